#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The viewer's page with a trace inside (./dev web, `report --format app`) opens from disk in Firefox, on a display of its own and with GL in
# software: the title of the window names the trace once it is shown.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
page=${STREAMSCOPE_WEB_VIEWER:-$root/build-web/viewer.html}
source "$(dirname "$0")/lib.sh" "$1"
firefox=$(command -v firefox-esr || command -v firefox) || { echo "skipped: no Firefox"; exit 77; }
for program in Xvfb xdotool; do command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }; done
[[ -f $page ]] || { echo "skipped: no $page (./dev web makes it)"; exit 77; }

STREAMSCOPE_WEB_VIEWER=$page "$bin/streamscope" report "$root/traces/pipeline.sqlite" --format app --quiet -o page.html
mkdir profile home
cat >profile/user.js <<'END'
user_pref("webgl.force-enabled", true);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("app.update.enabled", false);
END
Xvfb -displayfd 3 -screen 0 1600x1000x24 3>display 2>/dev/null &
companions+=($!)
for _ in {1..100}; do [[ -s display ]] && break; sleep 0.1; done
DISPLAY=:$(cat display)
export DISPLAY LIBGL_ALWAYS_SOFTWARE=1 HOME=$work/home
"$firefox" --no-remote --profile "$work/profile" --width 1600 --height 1000 "file://$work/page.html" >firefox.log 2>&1 &
companions+=($!)
title='^pipeline\.sqlite .* StreamScope'
for _ in {1..600}; do
  xdotool search --name "$title" >/dev/null 2>&1 && break
  sleep 0.1
done
xdotool search --name "$title" >/dev/null || fail "the window is called $(xdotool search --name . getwindowname %@ 2>/dev/null | tail -3); $(tail -5 firefox.log)"
echo "passed"
