#!/usr/bin/env python3
"""Checks that what the documents point to exists: relative links, and files named in `code` that
look like paths of the repository. Prints one line per broken reference and exits 1 if there is any.

usage: check_docs.py [ROOT]
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`((?:src|tests|scripts|cmake|docs|bench|examples)/[\w./-]+)`")


def check_file(root, file):
    offences = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        targets = [(file.parent / link, link) for link in LINK.findall(line) if "://" not in link]
        targets += [(root / path, path) for path in PATH.findall(line)]
        offences += [f"{file.relative_to(root)}:{number}: {name} does not exist"
                     for target, name in targets if not target.exists()]
    return offences


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    files = sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])
    offences = [line for file in files for line in check_file(root, file)]
    print("\n".join(offences + [f"docs: {len(files)} files, {len(offences)} offences"]))
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
