"""The test suites of the sources, by GoogleTest's names: in a package all are one program."""
import re

from elf import PackageError

LABEL = re.compile(r"^ *attune_suite\((\w+) (fast|slow)\)", re.M)
TEST = re.compile(r"^(TEST|TEST_F|TEST_P|RC_GTEST_PROP)\((\w+),", re.M)
PLAIN = {"TEST", "RC_GTEST_PROP"}  # without a fixture: such suites may share a name


def test_suites(root):
    """Pairs of label and name, sorted."""
    labels = dict(LABEL.findall((root / "cmake/suites.cmake").read_text(encoding="utf-8")))
    found, fixtures = {}, {}
    files = [*(root / "src").rglob("*_test.cpp"), *(root / "tests").rglob("*_test.cpp")]
    for path in sorted(files):
        folder = path.parent.relative_to(root).parts
        # What is no suite has the label that attune_test gives.
        label = labels.get(folder[1], "fast") if folder[0] == "tests" else "fast"
        for kind, name in TEST.findall(path.read_text(encoding="utf-8")):
            other = fixtures.setdefault(name, (kind, path))
            if other[1] != path and not {kind, other[0]} <= PLAIN:
                raise PackageError(f"{other[1].relative_to(root)} and {path.relative_to(root)} both have "
                                   f"a suite '{name}', which one program cannot hold", "rename one")
            found[name] = label
    return sorted((label, name) for name, label in found.items())
