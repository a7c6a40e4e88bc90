#!/usr/bin/env python3
"""Checks rules of the design that no compiler knows.

- Which kind a target is stays in src/targets: nobody else names one. A literal with the name of a kind of
  src/targets/list.inc as a word of it is an offence, and so is asking for the default kind, or by the number
  of multiprocessors whether there are launches. Frontends may name kinds within sentences, for help and
  examples, and the format of artifacts means one where they name none; what else is a fixed word of a
  stored or foreign format is said to be one, in a comment of its line that begins `fixed word:`, and there
  are few of them.
- What a model's text names (an operator, a file, a name of the zoo) is asked in the loader alone.
- One place lowers programs: the kernel builder.
- A candidate has few shapes: what it is, what was built of it, what the measuring process gets, its
  row in a session, its record.
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

TARGETS, TARGET_LIST = "src/targets/", "src/targets/list.inc"
FRONTENDS, FORMAT = "src/app/cli/", "src/runtime/format/"
LAUNCH_FACTS = "src/compiler/target/launch_facts.h"
FIXED_WORD = "// fixed word: "
MOST_FIXED_WORDS = 8
# Text and characters, or a comment, whichever comes first.
TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|\'(?:[^\'\\]|\\.)\'|//.*')
ASKS_DEFAULT = re.compile(r"[=!]=\s*[\w:]*\b(?:kDefaultKind|default_kind)\b|\bkDefaultKind\s*[=!]=|"
                          r"\bdefault_kind\(\)[.\w]*\s*[=!]=")
ASKS_LAUNCHES = re.compile(r"\bmultiprocessors\s*(?:[<>]=?|[=!]=)\s*[01]\b")

MOST_CANDIDATES = 5
CANDIDATE_ROOMS = tuple(f"src/tuner/{room}/" for room in ["space", "explore", "session", "measure"])
RECORD = ("src/tuner/records/record.h", "Record")

MOST_SOURCES = 60
# Directories of siblings, one entry a file.
SIBLINGS = ["src/compiler/frontend/onnx", "src/compiler/graph/passes", "src/compiler/ops/definitions"]


def is_for_tests(path):
    return path.endswith(("_test.cpp", "_testing.h", "_test.h"))


def target_kinds(root):
    file = root / TARGET_LIST
    return re.findall(r"^ATTUNE_FACTS\((\w+)\)", file.read_text(), re.MULTILINE) if file.exists() else []


def literals(line):
    """The texts that a line of code holds, comments aside."""
    for token in TOKEN.finditer(line):
        if token[0].startswith("//"):
            return
        if token[1] is not None:
            yield token[1]


def names_kind(path, line, kinds):
    """The text of a line that names a kind where none may be named; None when there is none."""
    words = "|".join(map(re.escape, kinds)) or "(?!)"
    # Names of folders and parts of longer words are something else; names of libraries are not.
    within = re.compile(rf"(?<![\w/.-])(?:lib)?(?:{words})(?![\w/])")
    is_target = re.compile(rf"(?:{words})(?: -.*)?$")
    for text in literals(line):
        if is_target.match(text) if path.startswith(FRONTENDS) else within.search(text):
            return text
    return None


def kind_offences(path, number, line, kinds):
    if path.startswith((TARGETS, FORMAT)):
        return
    text = names_kind(path, line, kinds)
    if text is not None and FIXED_WORD not in line:
        yield (f"{path}:{number}: \"{text}\" names a kind of target; that is for src/targets to know, "
               f"unless it is a {FIXED_WORD[3:-2]}")
    if ASKS_DEFAULT.search(line) or (ASKS_LAUNCHES.search(line) and path != LAUNCH_FACTS):
        yield f"{path}:{number}: asks which kind a target is; make it a fact of the target"


def fixed_word_offences(texts):
    """They are exceptions, each with its reason, and stay so."""
    found = sorted(path for path, text in texts for line in text.splitlines() if FIXED_WORD in line)
    if len(found) > MOST_FIXED_WORDS:
        yield f"{len(found)} lines hold fixed words, at most {MOST_FIXED_WORDS}: " + ", ".join(found)


def line_offences(path, number, line, kinds):
    yield from kind_offences(path, number, line, kinds)
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


def structs(text):
    """Names of the structs that are defined there, each with its body."""
    for found in re.finditer(r"\bstruct (\w+)(?: final)?(?: : [^{;]*)? \{", text):
        depth, end = 1, found.end()
        while depth > 0 and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield found[1], text[found.end():end]


def candidate_offences(texts):
    """A struct stands for a candidate when it is called one, or holds a trace on its way through tuning."""
    found = []
    for path, text in texts:
        for name, body in structs(text):
            holds = path.startswith(CANDIDATE_ROOMS) and re.search(r"\bschedule::Trace \w+( = [^;]*)?;", body)
            if name.endswith(("Candidate", "Proposal")) or holds or (path, name) == RECORD:
                found.append(f"{path}: {name}")
    if len(found) > MOST_CANDIDATES:
        yield f"{len(found)} structs stand for a candidate, at most {MOST_CANDIDATES}: " + ", ".join(found)


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    kinds = target_kinds(root)
    files = [f for f in sorted((root / "src").rglob("*")) if f.suffix in (".h", ".cpp")]
    texts = [(path, file.read_text()) for file in files
             if not is_for_tests(path := file.relative_to(root).as_posix())]
    offences = [*directory_offences(root), *candidate_offences(texts), *fixed_word_offences(texts)]
    for path, text in texts:
        for number, line in enumerate(text.splitlines(), 1):
            offences += line_offences(path, number, line, kinds)
    print("\n".join(offences + [f"design: {len(files)} files, {len(offences)} offences"]))
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
