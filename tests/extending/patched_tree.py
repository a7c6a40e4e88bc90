"""A copy of this tree in build/extending, to which patches are applied one after the other and which is
built in place. The copy is a repository, so that git undoes a patch and shows what changed.
Objects that a patch does not concern are built once, or come from the compiler cache."""
import os
import re
import shutil
import subprocess
import sys

import patches

PLACE = patches.ROOT / "build" / "extending"
TREE = PLACE / "tree"
BUILD = TREE / "build" / "release"  # where it is here, so that the compiler cache serves both


SKIPPED = 77  # what a check says whose tool is not here
# As cmake/layers.cmake runs tests.
OF_TESTS = {"ATTUNE_MACHINE": "stated", "ATTUNE_FILE_SYSTEM": "local"}


def run(command, what, folder=None, more=None, good=(0,)):
    """What it prints; an error shows the end of that. `more` are variables of its environment."""
    done = subprocess.run(command, cwd=folder, env={**os.environ, **(more or {})}, text=True,
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    if done.returncode not in good:
        raise RuntimeError(f"{what} failed:\n{done.stdout[-3000:]}")
    return done.stdout


def git(*arguments):
    # Nothing of the user's settings, and no repository around the copy.
    options = ["-c", "user.name=extending", "-c", "user.email=extending@localhost",
               "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false"]
    return run(["git", f"--git-dir={TREE}/.git", f"--work-tree={TREE}", *options, *arguments],
               f"git {arguments[0]}", TREE)


def sources():
    """The files of this tree that belong to it, also those that are not committed yet."""
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                 "git ls-files", patches.ROOT)
    return {p for p in listed.split("\0") if p and (patches.ROOT / p).is_file()}


def same(a, b):
    return b.is_file() and a.stat().st_size == b.stat().st_size and a.read_bytes() == b.read_bytes()


def bring_up_to_date():
    """The copy as this tree is now; files that are the same keep their times."""
    TREE.mkdir(parents=True, exist_ok=True)
    if not (TREE / ".git").exists():
        git("init", "-q")
    else:
        undo()
    wanted = sources()
    kept = {p for p in git("ls-files", "-z").split("\0") if p}
    for path in kept - wanted:
        (TREE / path).unlink(missing_ok=True)
    for path in wanted:
        if not same(patches.ROOT / path, TREE / path):
            (TREE / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(patches.ROOT / path, TREE / path)
            shutil.copymode(patches.ROOT / path, TREE / path)
    git("add", "-A", ".")
    if git("status", "--porcelain"):
        git("commit", "-q", "-m", "the tree without a patch")


def undo():
    git("reset", "-q", "--hard")
    git("clean", "-q", "-f", "-d")


def apply(name):
    done = patches.git_apply(name, folder=TREE)
    if done.returncode != 0:
        raise RuntimeError(f"{patches.how_to_refresh(name)}\n{done.stdout}")


def build(*targets):
    cache = BUILD / "CMakeCache.txt"
    if not cache.exists() or "ATTUNE_BUILD_TESTS:BOOL=ON" not in cache.read_text():
        run(["cmake", "--preset", "release", "-DATTUNE_BUILD_TESTS=ON"], "configuring", TREE)
    jobs = os.environ.get("ATTUNE_JOBS") or str(os.cpu_count())
    run(["ninja", "-C", str(BUILD), "-j", jobs, *targets], "building " + " ".join(targets))
    return BUILD / "bin" / "attune"


def test(program, chosen, more=None):
    """Runs those tests of a program whose names the filter lets through; without any, it fails."""
    what = f"{program} --gtest_filter={chosen}"
    said = run([str(BUILD / "bin" / program), "--gtest_brief=1", f"--gtest_filter={chosen}"], what, TREE,
               {**OF_TESTS, **(more or {})})
    if not re.search(r"^\[==========\] [1-9]\d* tests? .* ran", said, re.M):
        raise RuntimeError(f"{what} ran no test:\n{said[-3000:]}")


def check():
    """The rules of the house hold with the patch too."""
    for script in ["check_layers.py", "check_design.py", "check_functions.py", "check_sizes.py",
                   "check_docs.py"]:
        run([sys.executable, "-B", str(TREE / "scripts" / script)], script, TREE)
    run([str(TREE / "scripts/check_format.sh")], "check_format.sh", TREE, good=(0, SKIPPED))
