#!/usr/bin/env python3
"""Checks that functions have at most 60 lines, from the first of the signature to the last brace.

C++ is formatted by clang-format, so that a function ends with a brace in the column in which its
signature begins: in the first, or in the third inside a class. Shell functions end in the first.
Python's are read by Python. Prints one line per offence and exits 1 if there is any.

usage: check_functions.py [ROOT]
"""

import ast
import pathlib
import re
import sys

from check_sizes import sources

MOST_LINES = 60
CPP = {".h", ".cpp", ".c", ".inc"}
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)
KIND = re.compile(r"(?:template <.*> *)?(class|struct|union|enum|namespace|extern \"C\")\b")


def blocks(lines, indent):
    """(number of the first line, of the last) of what ends with a brace at the indent."""
    first = None
    for number, line in enumerate(lines, 1):
        if not line.startswith(indent) or line[len(indent):len(indent) + 1] in ("", *" #/);,"):
            continue
        text = line[len(indent):]
        if text == "}" and first:
            yield first, number
        first = None if text.startswith("}") else number


def cpp_functions(text):
    """Strings over several lines are blanked: what stands in them is not code."""
    text = RAW_STRING.sub(lambda found: '""' + "\n" * found[0].count("\n"), text)
    lines = text.splitlines()
    for indent in ("", "  "):
        for first, last in blocks(lines, indent):
            if not KIND.match(lines[first - 1].strip()):
                yield first, last


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno


def functions(file):
    """(number of the first line, of the last) of each function."""
    text = file.read_text(encoding="utf-8")
    shebang = text.partition("\n")[0] if text.startswith("#!") else ""
    if file.suffix in CPP:
        return cpp_functions(text)
    if file.suffix == ".py" or "python" in shebang:
        return python_functions(text)
    if file.suffix == ".sh" or "sh" in shebang:
        return blocks(text.splitlines(), "")
    return ()


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    count, offences = 0, []
    for file in sources(root):
        for first, last in functions(file):
            count += 1
            if last - first + 1 > MOST_LINES:
                offences.append(f"{file.relative_to(root)}:{first}: a function of {last - first + 1} lines, "
                                f"the most is {MOST_LINES}")
    print("\n".join([*offences, f"functions: {count}, {len(offences)} offences"]))
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
