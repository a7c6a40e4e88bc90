#!/usr/bin/env python3
"""Checks the commands by which a build folder compiles.

- No definition holds a place on this machine: clones share what the compiler cache keeps, which takes
  definitions as they are.
- A source that holds files (src/base/embedded_text.h) has their hash in its command: nobody else would
  notice that they changed.

Prints one line per offence and exits 1 if there is any.

usage: check_commands.py [BUILD]
"""

import json
import pathlib
import re
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def definitions(command):
    """Pairs of a name and a value."""
    for word in shlex.split(command):
        if word.startswith("-D"):
            name, _, value = word[2:].partition("=")
            yield name, value


def offences(entry, text):
    """One sentence for each in an entry of compile_commands.json, whose source reads `text`."""
    defined = dict(definitions(entry["command"]))
    for name, value in defined.items():
        if re.match(r'"?/', value):
            yield (f"{entry['file']}: {name} is {value}, which is elsewhere in another clone; find it by "
                   "src/base/built_path_testing.h")
    if re.search(r"^ATTUNE_TEXT\(", text, re.M) and "ATTUNE_EMBEDDED" not in defined:
        yield f"{entry['file']}: holds files that its command does not know; see attune_embeds in cmake/"


def main(arguments):
    build = pathlib.Path(arguments[0]) if arguments else ROOT / "build/release"
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    found = []
    for entry in entries:
        source = pathlib.Path(entry["directory"]) / entry["file"]
        # What the build itself writes may not be there yet.
        found += offences(entry, source.read_text(encoding="utf-8") if source.exists() else "")
    print("\n".join([*found, f"commands: {len(entries)}, {len(found)} offences"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
