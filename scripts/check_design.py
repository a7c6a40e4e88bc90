#!/usr/bin/env python3
"""Checks rules of the design that no compiler knows.

- Which kind a target is stays in src/targets: nobody else compares kinds of targets.
- What a model's text names (an operator, a file, a name of the zoo) is asked in the loader alone.
- One place lowers programs: the kernel builder.
- A directory holds at most 60 sources, so that a stranger finds a file by looking; lists of siblings,
  where each file is one entry, aside.

Tests may do as they like. Prints one line per offence and exits 1 if there is any.

usage: check_design.py [ROOT]
"""

import pathlib
import re
import sys

LOADER = "src/compiler/model/load/model.cpp"
BUILDER = "src/compiler/kernel/kernel.cpp"
# The words of AutoTVM's logs, of which some are ours too.
FOREIGN_KINDS = "src/tuner/logs/workload.cpp"

MOST_SOURCES = 60
# Directories of siblings, one entry a file.
SIBLINGS = ["src/compiler/frontend/onnx", "src/compiler/graph/passes", "src/compiler/ops/definitions"]


def is_for_tests(path):
    return path.endswith(("_test.cpp", "_testing.h", "_test.h"))


def target_kinds(root):
    folder = root / "src/targets"
    return sorted(f.name for f in folder.iterdir() if f.is_dir()) if folder.is_dir() else []


def line_offences(path, number, line, kinds):
    words = "|".join(map(re.escape, kinds)) or "(?!)"
    compared = re.search(rf'\bkind\b\s*[=!]=\s*"({words})"|"({words})"\s*[=!]=\s*\S*\bkind\b', line)
    if compared and not path.startswith("src/targets/") and path != FOREIGN_KINDS:
        yield f"{path}:{number}: asks which kind a target is; that is for src/targets to know"
    if "kind_of_model" in line and path != LOADER:
        yield f"{path}:{number}: asks what a model's text names; that is for {LOADER}"
    if "lower::lower(" in line and path != BUILDER:
        yield f"{path}:{number}: lowers a program; that is for {BUILDER}"


def directory_offences(root):
    for folder in sorted({f.parent for f in (root / "src").rglob("*") if f.suffix in (".h", ".cpp")}):
        path = folder.relative_to(root).as_posix()
        count = sum(1 for f in folder.iterdir() if f.suffix in (".h", ".cpp"))
        if path in SIBLINGS:
            continue
        if count > MOST_SOURCES:
            yield f"{path}: {count} sources, at most {MOST_SOURCES}; divide it where a stranger would"


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    kinds = target_kinds(root)
    files = [f for f in sorted((root / "src").rglob("*")) if f.suffix in (".h", ".cpp")]
    offences = list(directory_offences(root))
    for file in files:
        path = file.relative_to(root).as_posix()
        if is_for_tests(path):
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            offences += line_offences(path, number, line, kinds)
    print("\n".join(offences + [f"design: {len(files)} files, {len(offences)} offences"]))
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
