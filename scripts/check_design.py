#!/usr/bin/env python3
"""Checks rules of the design that no compiler knows.

- Which kind a target is stays in src/targets: nobody else names one. A literal with the name of a kind of
  src/targets/list.inc as a word of it is an offence, and so is asking for the default kind, or by the number
  of multiprocessors whether there are launches. Frontends may name kinds within sentences, for help and
  examples, and the format of artifacts means one where they name none; what else is a fixed word of a
  stored or foreign format is said to be one, in a comment of its line that begins `fixed word:`, and there
  are few of them.
- What a model's text names (an operator, a file, a name of the zoo) is asked in the loader alone;
  all others go by the facts that it sets (compiler/model/load/model_facts.h).
- One place lowers programs and generates code: the kernel builder. Besides, what a kernel needs run once,
  ahead of time, is compiled there by those who run it, or hand it on.
- Where all users write, files lie in a folder that nobody can foresee: base/scratch_folder.h makes it.
- Files that parse JSON by themselves ask how deep it is, but for those who wrote it.
- A candidate has few shapes: what it is, what was built of it, what the measuring process gets, its
  row in a session, its record.
- Nothing that changes lives in a function or a namespace: caches, counters and settings belong to
  whoever makes the work, who hands them down.
- A directory, also of tests, holds at most 60 sources, so that a stranger finds a file by looking; siblings by name,
  where each file is one entry of a list, aside.

In all else tests may do as they like. Prints one line per offence and exits 1 if there is any.

usage: check_design.py [ROOT]
"""

import collections
import fnmatch
import pathlib
import re
import sys

from check_sizes import sources

LOADER = "src/compiler/model/load/model.cpp"
# What a text says by itself, for the loader and those who only need that.
MODEL_TEXT = "src/compiler/model/text/model_text.cpp"
# Whatever it is called: a name that asks whether a model is of one kind, or which kind it is.
ASKS_FOR_KIND = re.compile(
    r"\b\w*kind_of_model\w*\b|\bmodel_kind\w*\b|\bModelKind\b"
    r"|\b(?:is|was)_(?:an?_|one_|single_|the_)?(?:operator|op|spec|op_spec|operator_spec|model"
    r"|whole_model|onnx|onnx_model|zoo|zoo_model)_?\b"
    r"|\bis(?:Operator|Spec|Model)\b|\boperator_facts\b"
    r"|\bzoo::has\(|\bruntime::looks_like_artifact\(|\bends_with\(\"\.(?:onnx|attune)\"\)")
BUILDER = "src/compiler/kernel/kernel.cpp"
# A code generator's functions, whoever holds it: where one is named, nothing else is compiled or linked.
NAMES_GENERATOR = re.compile(r"\b(?:CodeGenerator|code_generators?(?:_of)?)\b")
GENERATES = re.compile(r"(?:\.|->)(?:compile|link)\b(?!\s*=)")
COMPILES_LOOPS = re.compile(r"\bkernel::compile\(")
# Those that run, ahead of time, the loops that prepare constants; and who writes them beside a kernel.
PREPARERS = ["src/compiler/model/kernel_store.cpp", "src/compiler/model/compile.cpp",
             "src/tuner/measure/builder/build_candidate.cpp"]

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

SCRATCH = "src/base/scratch_folder.cpp"
# JSON of our own making: of a library, of rows, of what was written a moment before.
OWN_JSON = ["src/app/calibration/calibrate.cpp", "src/app/verbs/records/records.cpp",
            "src/tuner/cost_model/boosted_trees.cpp"]

MOST_CANDIDATES = 5
# Traces with times that are no candidates of the search at hand, and why.
OTHER_TRACES = {
    "src/tuner/cost_model/training_set.h: Lesson": "the label that a learner gives a candidate",
    "src/tuner/records/hint.h: Hint": "of another machine or another tuner, worth a try at most",
    "src/tuner/records/trial_sample.h: Trial": "what learning across tasks reads of records",
    "src/tuner/whole_model/report/tune_report.h: TunedTask": "a task in a report, with its best trace",
}

HANDLERS = "a signal handler reaches nothing but what is global"
LIBRARY = "a library keeps its own state in globals"
MACHINE = "measured again, the machine would have other facts, and tasks other schedules, in one process"
# Files that may keep something that changes, by its names, and why.
STATE = {
    "src/app/cli/interrupt.cpp": ({"stop_requested", "signal_number"}, HANDLERS),
    "src/base/child.cpp": ({"g_note"}, HANDLERS),
    "src/runtime/format/cut_guard.cpp": ({"ranges", "handled_before", "once"}, HANDLERS),
    "src/tuner/measure/probe/crash_watch.cpp": ({"g_watched"}, HANDLERS),
    "src/runtime/execution/thread_pool.cpp": ({"t_current_worker"}, "a thread says who it is"),
    "src/targets/cpu/codegen/link.cpp": ({"one_at_a_time"}, LIBRARY),
    "src/targets/cpu/codegen/spills.cpp": ({"id"}, "LLVM tells passes apart by an address"),
    "src/targets/cpu/facts/llvm_targets.cpp": ({"once"}, LIBRARY),
    "src/targets/cuda/codegen/compile_process.cpp": ({"idle"}, "processes go with a library that is opened once"),
    "src/targets/cpu/facts/machine_here.cpp": ({"mutex", "known"}, MACHINE),
    "src/targets/cuda/facts/cards_here.cpp": ({"mutex", "known"}, MACHINE),
}
# A driver that tests load in place of the real one.
PRETENDED = "src/targets/cuda/device/test_driver/"

MOST_SOURCES = 60
# Siblings that are not counted, by their directory: one entry of a list a file.
SIBLINGS = {"src/compiler/frontend/onnx": "convert_*"}


def is_for_tests(path):
    return path.endswith(("_test.cpp", "_testing.h", "_testing.cpp"))


def without_comment(line):
    return line.split("//", 1)[0]


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
    if path not in (LOADER, MODEL_TEXT) and ASKS_FOR_KIND.search(without_comment(line)):
        yield f"{path}:{number}: asks what a model's text names; that is for {LOADER}"
    if "temp_directory_path" in line and path != SCRATCH:
        yield f"{path}:{number}: names a file where all users write; that is for {SCRATCH}"
    if "lower::lower(" in line and path != BUILDER:
        yield f"{path}:{number}: lowers a program; that is for {BUILDER}"


def json_offences(path, text):
    parsed = re.search(r"\bjson::parse\(", text, re.IGNORECASE)
    if parsed and "json_depth(" not in text and path not in OWN_JSON:
        number = text[:parsed.start()].count("\n") + 1
        yield f"{path}:{number}: parses JSON of any depth; base/read_json.h does not"


def builder_offences(path, text):
    """From program, trace and target to a kernel there is one way."""
    code = code_of(text)
    names_generator = path != BUILDER and NAMES_GENERATOR.search(code)
    for number, line in enumerate(code.splitlines(), 1):
        if names_generator and GENERATES.search(line):
            yield f"{path}:{number}: generates code; that is for {BUILDER}"
        if path not in PREPARERS and COMPILES_LOOPS.search(line):
            yield f"{path}:{number}: compiles loops without kernel::build, which lowers them"


def directory_offences(root):
    files = collections.defaultdict(list)
    for file in sources(root):
        files[file.parent.relative_to(root).as_posix()].append(file.name)
    for path, names in sorted(files.items()):
        siblings = SIBLINGS.get(path)
        others = [name for name in names if siblings is None or not fnmatch.fnmatch(name, siblings)]
        if len(others) > MOST_SOURCES:
            besides = f" besides {siblings}" if siblings else ""
            yield f"{path}: {len(others)} sources{besides}, at most {MOST_SOURCES}; divide it where a stranger would"
        if siblings and len(names) <= MOST_SOURCES:
            yield f"{path}: {len(names)} sources need no exemption for {siblings}; take it off the list"


def structs(text):
    """Names of the structs that are defined there, each with its body."""
    for found in re.finditer(r"\bstruct (\w+)(?: final)?(?: : [^{;]*)? \{", text):
        depth, end = 1, found.end()
        while depth > 0 and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield found[1], text[found.end():end]


TRACE = re.compile(r"""
    ^\s*(?:std::optional<)?(?:schedule::Trace|(?:\w+::)?(?:Candidate|Schedule))>?\s+\w+   # a member that is one
    | ^\s*const\ (?:\w+::)?Candidate\*\ \w+                                              # or names one
    | ^\s*std::string\ (?:\w+(?:\ =\ \{\})?,\ )*trace\b | \btrace_hash\b                 # or its text
    """, re.MULTILINE | re.VERBOSE)
TIME = re.compile(r"""
    ^\s*(?:std::optional<)?(?:double|outcome::Outcome)>?\s[^;(]*\b(?:\w+_us|us|outcome)\b(?!\()
    | ^\s*(?:std::optional<)?(?:\w+::)*(?:RunResult|Record)>?\s+\w+                       # or what holds one
    """, re.MULTILINE | re.VERBOSE)


def stands_for_candidate(path, name, body):
    """Whether it is called one, or says of a trace in its own words how fast it is or what became of it."""
    if "Candidate" in name or name.endswith("Proposal"):
        return True
    return path.startswith("src/tuner/") and bool(TRACE.search(body)) and bool(TIME.search(body))


def candidate_offences(texts):
    found = []
    for path, text in texts:
        for name, body in structs(code_of(text)):
            if stands_for_candidate(path, name, body) and f"{path}: {name}" not in OTHER_TRACES:
                found.append(f"{path}: {name}")
    if len(found) > MOST_CANDIDATES:
        yield f"{len(found)} structs stand for a candidate, at most {MOST_CANDIDATES}: " + ", ".join(found)


def code_of(text):
    """The text without comments, and with nothing in its strings; lines stay where they are."""
    pattern = r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/'
    return re.sub(pattern, lambda found: '""' + "\n" * found[0].count("\n"), text, flags=re.DOTALL)


def is_fixed(declared):
    """Whether what is declared never changes: it is constant, and so is a pointer that it is."""
    if re.search(r"\b(constexpr|consteval)\b", declared):
        return True
    return bool(re.search(r"\bconst\b", declared)) and not re.search(r"\*\s*\w+$", declared.strip())


def is_function(line):
    """Whether parentheses hold parameters, or nothing, rather than what a variable begins with."""
    inside = re.search(r"\((.*)\);$", line)
    return not inside or inside[1] == "" or re.search(r"[\w>&*]\s+[&*]*\w", inside[1])


def changing_variables(text):
    """What lives as long as the process and is not constant: (line number, name)."""
    for number, line in enumerate(code_of(text).splitlines(), 1):
        words = re.match(r"\s*((?:(?:inline|constinit|extern|static|thread_local)\s+)*)(.*?)\s*([=;{\[(]|$)", line)
        kept, declared, end = words[1], words[2], words[3]
        lives = re.search(r"static|thread_local", kept)
        if not lives and (line[:1].isspace() or not end or "extern" in kept):
            continue  # of a function or a class, or of somebody else
        if end == "(" and (not lives or is_function(line.rstrip())):
            continue
        named = re.fullmatch(r"(?:[\w:]+[\s*&<>,\w:]*[\s*&>])(\w+)", declared)
        if not named or named[1] == "operator" or is_fixed(declared) or " : " in declared:
            continue
        first, *others = declared.split()
        if first in ("using", "namespace", "return", "template", "typedef", "friend", "else", "case"):
            continue
        if first in ("struct", "class", "enum", "union") and (len(others) < 2 or others[-1] == "final" or first == "enum"):
            continue
        yield number, named[1]


def state_offences(path, text):
    if path.startswith(PRETENDED):
        return
    allowed, _ = STATE.get(path, (set(), ""))
    found = list(changing_variables(text))
    for number, name in found:
        if name not in allowed:
            yield f"{path}:{number}: '{name}' changes and belongs to nobody; hand it down from whoever makes the work"
    for name in sorted(allowed - {name for _, name in found}):
        yield f"{path}: '{name}' is allowed to change, but is not there; take it off the list"


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    kinds = target_kinds(root)
    files = [f for f in sorted((root / "src").rglob("*")) if f.suffix in (".h", ".cpp")]
    texts = [(path, file.read_text()) for file in files
             if not is_for_tests(path := file.relative_to(root).as_posix())]
    offences = [*directory_offences(root), *candidate_offences(texts), *fixed_word_offences(texts)]
    for path, text in texts:
        offences += state_offences(path, text)
        offences += json_offences(path, text)
        offences += builder_offences(path, text)
        for number, line in enumerate(text.splitlines(), 1):
            offences += line_offences(path, number, line, kinds)
    print("\n".join(offences + [f"design: {len(files)} files, {len(offences)} offences"]))
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
