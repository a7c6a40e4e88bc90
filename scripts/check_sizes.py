#!/usr/bin/env python3
"""Checks file sizes, names and leftovers in the sources.

A header over 200 lines is a warning, any file over 400 an offence; so are names that say
nothing, notes of unfinished work, and a median of the files under src above 77 lines. Prints one line per finding and exits 1 if there is an offence.

usage: check_sizes.py [ROOT]
"""

import pathlib
import re
import statistics
import sys

DIRECTORIES = ["src", "tests", "bench", "examples", "scripts", "cmake"]
LAUNCHERS = ["attune", "test"]  # programs beside them
SUFFIXES = {".h", ".cpp", ".c", ".inc", ".py", ".sh", ".cmake"}
HEADER_LINES, MOST_LINES = 200, 400
MOST_MEDIAN = 77  # lines of the files under src

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


def is_source(file):
    """By its suffix, or, without one, by saying what runs it."""
    if file.suffix:
        return file.suffix in SUFFIXES
    with open(file, "rb") as stream:
        return stream.read(2) == b"#!"


def sources(root):
    """The files to check: data and what lies in hidden folders aside."""
    files = [f for d in DIRECTORIES for f in sorted((root / d).rglob("*"))]
    files += [root / name for name in LAUNCHERS]
    return [f for f in files if f.is_file() and "data" not in f.relative_to(root).parts
            and not any(part.startswith(".") for part in f.relative_to(root).parts) and is_source(f)]


def median_offences(root, files):
    """Of files under src alone: many small ones are what makes a tree easy to read."""
    lines = [len(f.read_text().splitlines()) for f in files if f.relative_to(root).parts[0] == "src"]
    if lines and statistics.median(lines) > MOST_MEDIAN:
        yield (f"src: the median of its files is {statistics.median(lines):g} lines, the most is "
               f"{MOST_MEDIAN}; divide what is long")


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    files = sources(root)
    warnings, offences = [], list(median_offences(root, files))
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
