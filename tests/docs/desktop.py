# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A display without a screen, for commands that open a window."""

import os
import shutil
import subprocess
import threading


class Desktop:
    """Closes each window that opens on it, as its reader would, and counts them."""

    @staticmethod
    def is_possible():
        return all(map(shutil.which, ("Xvfb", "xdotool")))

    def __enter__(self):
        read, write = os.pipe()
        self._server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
                                        pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with open(read, encoding="ascii") as number:
            self.display = ":" + number.readline().strip()
        self._closed = set()
        self._ended = threading.Event()
        self._closer = threading.Thread(target=self._close_windows)
        self._closer.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._closer.join()
        self._server.kill()
        self._server.wait()

    @property
    def windows(self):
        """How many were closed."""
        return len(self._closed)

    def _xdotool(self, *words):
        return subprocess.run(["xdotool", *words], env=dict(os.environ, DISPLAY=self.display), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, timeout=30).stdout.split()

    def _close_windows(self):
        while not self._ended.wait(0.2):
            for window in self._xdotool("search", "--onlyvisible", "--name", "StreamScope"):
                self._xdotool("windowfocus", window, "key", "ctrl+q")
                self._closed.add(window)
