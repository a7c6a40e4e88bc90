#!/usr/bin/env python3
"""Checks that what documents and comments point to exists: relative links, files named in `code` that
look like paths of the repository, and sources that a comment names (by the end of their path; `NAME`
stands for any). Prints one line per broken reference and exits 1 if there is any.

usage: check_docs.py [ROOT]
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`((?:src|tests|scripts|cmake|docs|bench|examples)/[\w./-]+)`")

COMMENT = re.compile(r"(?:^|\s)//(.*)")
SOURCE = re.compile(r"(?<![\w*./-])[\w/]+\.(?:h|cpp|c|inc|py|cmake)\b(?!/)")
SOURCES = ["src", "tests", "bench", "examples", "scripts", "cmake"]


def check_comments(root, file, known):
    """`known`: by the name of a file the paths that there are of it."""
    offences = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        comment = COMMENT.search(line)
        for name in SOURCE.findall(comment[1]) if comment else []:
            paths = known.get(name.rsplit("/", 1)[-1], [])
            if not name.startswith("NAME") and not any(f"/{path}".endswith(f"/{name}") for path in paths):
                offences.append(f"{file.relative_to(root)}:{number}: {name} does not exist")
    return offences


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
    known = {}
    for file in (file for folder in SOURCES for file in (root / folder).rglob("*") if file.is_file()):
        known.setdefault(file.name, []).append(file.relative_to(root).as_posix())
    sources = [root / path for paths in known.values() for path in paths if path.endswith((".h", ".cpp"))]
    offences += [line for file in sorted(sources) for line in check_comments(root, file, known)]
    print("\n".join(offences + [f"docs: {len(files)} files, {len(sources)} sources, "
                                f"{len(offences)} offences"]))
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
