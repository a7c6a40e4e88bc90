"""The patches of this folder: what each adds, and how little of the tree it may touch for that.

A patch adds one file and one line of a list. A heavy operator, which comes with its template, may
touch four files; a target is its folder and one line. Docs and tests that a patch brings along
(docs/, tests/, *_test.cpp) are not counted.

Above the patch stand a sentence, the page that it is the example of, and the test programs that an
addition of its kind could break, with a filter where the rest of a program has nothing to do with it:
`tests: ops_test conformance_every_operator_test:*/cube`.
"""
import pathlib
import re
import subprocess

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
NAMES = sorted(p.stem for p in FOLDER.glob("*.patch"))

MOST_NEW = {"heavy_operator": 2}
MOST_LINES = {"heavy_operator": 2}


def path_of(name):
    return FOLDER / f"{name}.patch"


def tests_of(name):
    """Pairs of a test program and a filter of its tests."""
    head = path_of(name).read_text().split("diff --git")[0]
    words = [w for line in head.splitlines() if line.startswith("tests: ") for w in line.split()[1:]]
    return [(program, chosen or "*") for program, _, chosen in (w.partition(":") for w in words)]


def test_programs():
    """Those of layers and of suites, as CMake makes them."""
    table = (ROOT / "src/layers.txt").read_text().splitlines()
    layers = {line.split()[0] + "_test" for line in table if line[:1].isalpha()}
    tests = ROOT / "tests"
    return layers | {f"{p.relative_to(tests).parts[0]}_{p.stem}" for p in tests.glob("*/**/*_test.cpp")}


def is_there(program, chosen):
    """Whether a suite has a test that the filter lets through by its name (`*.NAME`); others are believed."""
    if not chosen.startswith("*."):
        return True
    source = next(p for p in (ROOT / "tests").glob("*/**/*_test.cpp")
                  if f"{p.relative_to(ROOT / 'tests').parts[0]}_{p.stem}" == program)
    return re.search(rf"^TEST(_F|_P)?\(\w+, {re.escape(chosen[2:])}\)", source.read_text(), re.M) is not None


def git_apply(name, *options, folder=ROOT):
    # Without a repository around it, git apply takes paths as they are.
    return subprocess.run(["git", "apply", *options, str(path_of(name))], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def is_counted(path):
    return not path.startswith(("docs/", "tests/")) and not path.endswith("_test.cpp")


def touched(text):
    """The files of a patch: new ones, and lines added and removed of each other one."""
    new, changed, path = [], {}, None
    for line in text.splitlines():
        if match := re.match(r"diff --git a/\S+ b/(\S+)$", line):
            path = match[1]
            changed[path] = [0, 0]
        elif line.startswith("new file mode"):
            new.append(path)
        elif path and line.startswith("+") and not line.startswith("+++ "):
            changed[path][0] += 1
        elif path and line.startswith("-") and not line.startswith("--- "):
            changed[path][1] += 1
    return ([p for p in new if is_counted(p)],
            {p: n for p, n in changed.items() if p not in new and is_counted(p)})


def folder_of_target(new):
    folders = {"/".join(p.split("/")[:3]) for p in new}
    return folders.pop() if len(folders) == 1 and new[0].startswith("src/targets/") else None


def offences(name, text):
    """One sentence for each way in which a patch touches too much."""
    new, changed = touched(text)
    for path, (added, removed) in changed.items():
        if not path.endswith("list.inc"):
            yield f"{name} changes {path}, which is no list"
        if added != 1 or removed != 0:
            yield f"{name} adds {added} lines to {path} and removes {removed}, instead of adding one"
    most = MOST_LINES.get(name, 1)
    if len(changed) > most:
        yield f"{name} changes {len(changed)} files, at most {most}: {', '.join(changed)}"
    if name == "target":
        if not folder_of_target(new):
            yield f"{name} adds files outside of one folder of src/targets: {', '.join(new)}"
        return
    most = MOST_NEW.get(name, 1)
    if len(new) > most:
        yield f"{name} adds {len(new)} files, at most {most}: {', '.join(new)}"


def how_to_refresh(name):
    return (f"tests/extending/{name}.patch no longer applies to this tree; "
            f"'tests/extending/refresh {name}' brings it up to date")
