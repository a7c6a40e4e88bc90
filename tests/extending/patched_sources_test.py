#!/usr/bin/env python3
"""The sources that each patch adds compile with the headers of this tree, so that a patch that fell behind
is noticed before `./test extending` builds it. Usage: patched_sources_test.py CXX FLAG..."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import patches  # noqa: E402

COMPILER = []


def errors_of(name, folder):
    """What the compiler says of the new sources; the files that the patch changes stand before the tree's."""
    new, changed = patches.touched(patches.path_of(name).read_text())
    for path in changed:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(patches.ROOT / path, folder / path)
    applied = patches.git_apply(name, *(f"--include={path}" for path in [*new, *changed]), folder=folder)
    if applied.returncode != 0:
        return f"{patches.how_to_refresh(name)}\n{applied.stdout}"
    said = ""
    for path in (p for p in new if p.endswith(".cpp")):
        done = subprocess.run([*COMPILER, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{folder / 'src'}",
                               f"-I{patches.ROOT / 'src'}", str(folder / path)],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        said += done.stdout if done.returncode != 0 else ""
    return said


class PatchedSources(unittest.TestCase):
    def test_each_compiles(self):
        for name in patches.NAMES:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                self.assertEqual(errors_of(name, pathlib.Path(folder)), "")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: patched_sources_test.py CXX FLAG...")
    COMPILER = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
