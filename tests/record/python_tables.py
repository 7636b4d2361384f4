# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Prints the tables of python_tables.h: of each interpreter that is named, the line tables of a few functions, and where
their lines begin as the interpreter itself says.

    python3 tests/record/python_tables.py python3.8 python3.9 ... > tests/record/python_tables.h
"""

import json
import subprocess
import sys

# One property of line tables each.
FUNCTIONS = {
    # Lines that go up and down by one, a loop, a comprehension in the middle of a line.
    "plain": """
def f(a):
    total = 0
    for i in a:
        if i > 3:
            total += i
        else:
            total -= [j for j in a][i]
    return total
""",
    # Instructions without a line, which end handlers and with statements.
    "handlers": """
def f(a):
    try:
        with a as b:
            b.c()
    except ValueError as error:
        a(error)
    finally:
        a()
""",
    # An expression of many lines: its call is made on a line before that of its arguments.
    "call": """
def f(a):
    return a(
        a(1,
          2),
        a.b(
            3,
        ),
    )
""",
    # Lines differ by more than fits into one entry, both ways.
    "far": "def f(a):\n    a(\n" + "\n" * 300 + "        a())\n" + "\n" * 150 + "    a()\n",
    # More code on one line than fits into one entry.
    "long": "def f(a):\n    a.b = (" + "a, " * 140 + ")\n    return a\n",
}

# Runs under each interpreter.
READ = r"""
import dis, json, sys
result = []
for name, source in json.load(sys.stdin):
    space = {}
    exec(compile(source, "file", "exec"), space)
    code = space["f"].__code__
    size = len(code.co_code)
    if hasattr(code, "co_lines"):
        table = code.co_linetable
        ranges = [(begin, line or 0) for begin, end, line in code.co_lines() if end > begin]
    else:
        table = code.co_lnotab
        ranges = list(dis.findlinestarts(code))
    lines = []
    for begin, line in ranges:
        if not lines or lines[-1][1] != line:
            lines.append((begin, line))
    result.append((name, sys.version_info[1], code.co_firstlineno, table.hex(), lines, size))
print(json.dumps(result))
"""


def wrapped(open_text, items, close_text, indent):
    """Items, separated, in lines of at most 100 columns."""
    text, line = "", indent + open_text
    for i, item in enumerate(items):
        piece = item + ("," if i + 1 < len(items) else "")
        if len(line) + len(piece) > 95:
            text += line.rstrip() + "\n"
            line = indent + " "
        line += piece + " "
    return text + line.rstrip() + close_text


def tables(interpreter, options, names, suffix):
    asked = json.dumps([(name, FUNCTIONS[name]) for name in names])
    answer = subprocess.run([interpreter, *options, "-c", READ], input=asked, capture_output=True, text=True, check=True)
    for name, minor, first_line, table, lines, size in json.loads(answer.stdout):
        print(f'    {{"{name}{suffix}", {minor}, {first_line},')
        parts = [f'"{table[i:i + 88]}"' for i in range(0, len(table), 88)]
        print("\n".join(f"     {part}" for part in parts) + ",")
        starts = [f"{{{begin}, {line}}}" for begin, line in lines]
        print(wrapped("{", starts, f"}}, {size}}},", "     "))


def main():
    print("// SPDX-FileCopyrightText: 2026 StreamScope contributors\n// SPDX-License-Identifier: Apache-2.0\n")
    print("// Line tables that CPython made, and its own answers. Produced by python_tables.py.")
    print("#pragma once\n\n#include <string>\n#include <vector>\n\nnamespace streamscope::record {\n")
    print("struct PythonTable {\n  std::string name;\n  int minor, first_line;\n  std::string table;  // hexadecimal")
    print("  struct Start {\n    int offset, line;  // line 0: none\n  };")
    print("  std::vector<Start> starts;  // where instructions of other lines begin\n  int size;                   // of the code\n};\n")
    print("// clang-format off\ninline const std::vector<PythonTable>& python_tables() {")
    print("  static const std::vector<PythonTable> kTables = {")
    for interpreter in sys.argv[1:]:
        version = subprocess.run([interpreter, "-c", "import sys; print(sys.version_info[1])"], capture_output=True,
                                 text=True, check=True)
        if int(version.stdout) < 11:
            tables(interpreter, [], ["plain", "handlers", "call", "far", "long"], "")
        else:
            tables(interpreter, [], ["plain", "handlers", "call", "far"], "")
            tables(interpreter, ["-X", "no_debug_ranges"], ["call", "far"], " without columns")
    print("  };\n  return kTables;\n}\n// clang-format on\n\n}  // namespace streamscope::record")


if __name__ == "__main__":
    main()
