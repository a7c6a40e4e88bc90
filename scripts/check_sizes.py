#!/usr/bin/env python3
"""Checks file sizes, names and leftovers in the sources.

A header over 200 lines is a warning, any file over 400 an offence; so are names that say
nothing, and notes of unfinished work. Prints one line per finding and exits 1 if there is an offence.

usage: check_sizes.py [ROOT]
"""

import pathlib
import re
import sys

DIRECTORIES = ["src", "tests", "bench", "examples", "scripts", "cmake"]
SUFFIXES = {".h", ".cpp", ".c", ".inc", ".py", ".sh", ".cmake"}
HEADER_LINES, MOST_LINES = 200, 400

# A file, directory or type may not be called one of these, nor end in it.
EMPTY_NAMES = ["util", "utils", "common", "helper", "helpers", "misc", "manager"]
EMPTY_TYPE = re.compile(r"^\s*(?:class|struct)\s+(\w*(?:Utils?|Helpers?|Manager|Misc))\b(?!.*;)")
# Spelt in pieces, so that this file passes its own check.
LEFTOVERS = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b|\bnot (yet )?implement" r"ed\b")


def says_nothing(name):
    return name.split("_")[-1].lower() in EMPTY_NAMES


def check_file(root, file):
    """Returns (warnings, offences) of one file."""
    path = file.relative_to(root)
    warnings, offences = [], []
    lines = file.read_text().splitlines()
    if len(lines) > MOST_LINES:
        offences.append(f"{path}: {len(lines)} lines, the most is {MOST_LINES}")
    elif len(lines) > HEADER_LINES and file.suffix == ".h":
        warnings.append(f"{path}: {len(lines)} lines, aim for {HEADER_LINES}")
    for part in (*path.parts[:-1], file.stem):
        if says_nothing(part):
            offences.append(f"{path}: the name '{part}' says nothing; call it by what it does")
    for number, line in enumerate(lines, 1):
        match = EMPTY_TYPE.match(line)
        if match:
            offences.append(f"{path}:{number}: the name '{match[1]}' says nothing")
        match = LEFTOVERS.search(line)
        if match:
            offences.append(f"{path}:{number}: '{match[0]}' marks unfinished work")
    return warnings, offences


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    files = [f for d in DIRECTORIES for f in sorted((root / d).rglob("*"))
             if f.suffix in SUFFIXES and f.is_file() and "data" not in f.relative_to(root).parts
             and not any(part.startswith(".") for part in f.relative_to(root).parts)]
    warnings, offences = [], []
    for file in files:
        of_file = check_file(root, file)
        warnings += of_file[0]
        offences += of_file[1]
    for line in warnings:
        print(f"warning: {line}")
    for line in offences:
        print(line)
    print(f"sizes: {len(files)} files, {len(warnings)} warnings, {len(offences)} offences")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
