#!/usr/bin/env python3
"""Shows that check_layers.py accepts what a table allows and finds what it forbids."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_layers

TABLE = """\
# a small table
base      base
runtime   runtime        alone
ir        compiler/ir
schedule  compiler/schedule  ir
ops       compiler/ops   ir test:schedule
codegen   compiler/codegen  ir +llvm
nested    compiler/codegen/nested
target_facts  targets/*/facts  ir
target_model  targets/*/model  open
kinds     targets        target_facts
zoo       compiler/zoo   +onnx_messages
app       app            *
"""
# A header of each layer, and files that include all that the table's lines list.
HEADERS = {"compiler/ir/_.h": "", "compiler/schedule/_.h": "", "targets/cpu/facts/_.h": ""}
USERS = {
    "compiler/schedule/_.cpp": '#include "compiler/ir/_.h"\n#include "compiler/schedule/_.h"\n',
    "compiler/ops/_.cpp": '#include "compiler/ir/_.h"\n',
    "compiler/ops/__test.cpp": '#include "compiler/schedule/_.h"\n',
    "compiler/codegen/_.cpp": '#include "compiler/ir/_.h"\n#include <llvm/IR/Module.h>\n',
    "targets/cpu/facts/_.cpp": '#include "compiler/ir/_.h"\n',
    "targets/_.cpp": '#define ATTUNE_FACTS(kind)\n#include "targets/list.inc"\n',
    "targets/list.inc": "",
    "compiler/zoo/_.cpp": '#include "compiler/frontend/onnx/proto/onnx.pb.h"\n',
}
DOCS = f"{check_layers.BEGIN}\n{check_layers.END}\n"


def check(files, table=TABLE, arguments=(), without=()):
    """Runs the check over a small tree {path below src: text}; returns (exit status, output)."""
    users = {path: text for path, text in {**HEADERS, **USERS}.items() if path not in without}
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        (root / "docs").mkdir()
        (root / "docs/architecture.md").write_text(DOCS)
        for path, text in {"layers.txt": table, **users, **files}.items():
            file = root / "src" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            check_layers.main(["--write", directory])
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = check_layers.main([*arguments, directory])
        return status, output.getvalue()


class CheckLayers(unittest.TestCase):
    def assert_passes(self, files, table=TABLE):
        status, output = check(files, table)
        self.assertEqual(status, 0, output)

    def assert_refused(self, files, expected, table=TABLE):
        status, output = check(files, table)
        self.assertEqual(status, 1, output)
        self.assertIn(expected, output)

    def test_downward_includes_pass(self):
        self.assert_passes({
            "base/a.h": "#include <fmt/core.h>\n#include <vector>\n",
            "compiler/ir/b.h": '#include "base/a.h"\n',
            "compiler/ir/inner/b.h": '#include "compiler/ir/b.h"\n',
            "compiler/schedule/c.h": '#include "compiler/ir/b.h"\n#include <sys/mman.h>\n',
            "compiler/schedule/c_test.cpp": '#include <gtest/gtest.h>\n#include "base/a.h"\n',
            "app/d.h": '#include "compiler/schedule/c.h"\n',
        })

    def test_upward_and_sideways_includes_are_refused(self):
        self.assert_refused(
            {"compiler/schedule/a.h": "", "compiler/ir/b.h": '\n#include "compiler/schedule/a.h"\n'},
            "compiler/ir/b.h:2: ir may not include compiler/schedule/a.h")
        self.assert_refused(
            {"compiler/schedule/a.h": "", "compiler/ops/b.h": '#include "compiler/schedule/a.h"\n'},
            "ops may not include compiler/schedule/a.h")

    def test_a_folder_that_is_a_layer_is_not_part_of_the_one_above(self):
        self.assert_refused(
            {"compiler/ir/a.h": "", "compiler/codegen/nested/b.h": '#include "compiler/ir/a.h"\n'},
            "nested may not include compiler/ir/a.h")

    def test_a_target_is_known_in_its_own_folder_only(self):
        facts = {"targets/cpu/facts/a.h": ""}
        include = '#include "targets/cpu/facts/a.h"\n'
        self.assert_passes({**facts, "targets/cpu/facts/b.cpp": include,
                            "targets/b_test.cpp": include})
        self.assert_refused({**facts, "targets/sim/facts/b.cpp": include},
                            "only the folder of target cpu may include targets/cpu/facts/a.h")
        self.assert_refused({**facts, "targets/b.cpp": include},
                            "only the folder of target cpu may include targets/cpu/facts/a.h")

    def test_an_open_layer_of_targets_is_everybodys_who_uses_it(self):
        model = {"targets/c/model/a.h": "", "app/a.cpp": '#include "targets/c/model/a.h"\n'}
        self.assert_passes(model)
        self.assert_refused(model, "only the folder of target c may include targets/c/model/a.h",
                            TABLE.replace("  open", ""))
        self.assert_refused({"targets/cpu/facts/model/a.h": "",
                             "app/a.cpp": '#include "targets/cpu/facts/model/a.h"\n'},
                            "only the folder of target cpu may include")

    def test_the_list_of_targets_is_for_those_above_what_they_list(self):
        include = '#include "targets/list.inc"\n'
        facts = f"#define ATTUNE_FACTS(kind)\n{include}"
        self.assert_passes({"app/a.cpp": facts})
        self.assert_refused({"app/a.cpp": include}, "is for those who list a part of the targets")
        self.assert_refused({"compiler/ir/a.cpp": facts}, "ir may not list what target_facts has")

    def test_what_a_line_lists_is_included(self):
        for path, expected in [("compiler/schedule/_.cpp", "schedule uses ir, of which"),
                               ("compiler/codegen/_.cpp", "codegen uses +llvm, of which"),
                               ("compiler/ops/__test.cpp", "the tests of ops use schedule, of which"),
                               ("targets/_.cpp", "kinds uses target_facts, of which")]:
            status, output = check({}, without=[path])
            self.assertEqual(status, 1, output)
            self.assertIn(f"src/layers.txt: {expected}", output)

    def test_generated_messages_are_fenced(self):
        line = '#include "compiler/frontend/onnx/proto/onnx.pb.h"\n'
        self.assert_passes({"compiler/zoo/a.cpp": line})
        self.assert_refused({"app/a.cpp": line}, "only zoo may include")

    def test_tests_reach_everything_below_but_nothing_above(self):
        include = '#include "compiler/schedule/a.h"\n'
        schedule = {"compiler/schedule/a.h": "", "compiler/schedule/a.cpp": include}
        self.assert_passes({**schedule, "compiler/ops/b_test.cpp": include})
        self.assert_refused({**schedule, "compiler/ir/b_test.cpp": include},
                            "ir may not include compiler/schedule/a.h")

    def test_what_is_for_tests_stays_among_them(self):
        files = {
            "base/a_testing.h": "#include <gtest/gtest.h>\n",
            "compiler/ir/b_test.cpp": '#include "base/a_testing.h"\n',
        }
        self.assert_passes(files)
        self.assert_passes({"base/a_testing.cpp": "#include <gtest/gtest.h>\n"})
        files["compiler/ir/b.cpp"] = '#include "base/a_testing.h"\n'
        self.assert_refused(files, "only tests may include base/a_testing.h")

    def test_a_header_that_tests_alone_include_says_so(self):
        files = {"base/a.h": "", "base/a_test.cpp": '#include "base/a.h"\n'}
        self.assert_refused(files, "base/a.h: only tests include it; call it base/a_testing.h")
        self.assert_passes({**files, "base/b.cpp": '#include "base/a.h"\n'})

    def test_third_party_headers_stay_where_they_belong(self):
        self.assert_passes({"compiler/codegen/a.cpp": "#include <llvm/IR/Module.h>\n"})
        self.assert_refused({"compiler/ops/a.cpp": "#include <llvm/IR/Module.h>\n"},
                            "only codegen may include <llvm/IR/Module.h>")
        self.assert_refused({"base/a.cpp": "#include <gtest/gtest.h>\n"},
                            "only tests may include <gtest/gtest.h>")
        self.assert_refused({"base/a.cpp": "#include <boost/asio.hpp>\n"}, "is no known header")

    def test_a_layer_that_stands_alone_reaches_no_third_party(self):
        self.assert_refused({"runtime/a.h": "#include <fmt/core.h>\n"}, "runtime stands alone")
        self.assert_refused(
            {"base/text.h": "#include <fmt/core.h>\n", "runtime/a.h": '#include "base/text.h"\n'},
            "base/text.h:1: runtime reaches the third-party header <fmt/core.h>")

    def test_unknown_directories_and_relative_includes_are_refused(self):
        self.assert_refused({"compiler/magic/a.h": ""}, "this directory is no layer")
        self.assert_refused({"base/a.h": "", "base/b.h": '#include "a.h"\n'}, "not under src/")

    def test_the_table_points_downward_and_names_what_there_is(self):
        self.assert_refused({}, "base uses ir, which stands not above it",
                            table="base base ir\nir compiler/ir\n")
        self.assert_refused({}, "base stands twice", table="base base\nbase base\n")
        self.assert_refused({}, "unknown part +magic", table="base base +magic\n")
        self.assert_refused({}, "the unknown layer magic", table="base base test:magic\n")

    def test_the_documents_table_is_written_and_checked(self):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            (root / "docs").mkdir()
            (root / "src").mkdir()
            document = root / "docs/architecture.md"
            document.write_text("before\n" + DOCS + "after\n")
            for path, text in {"layers.txt": TABLE, **HEADERS, **USERS}.items():
                (root / "src" / path).parent.mkdir(parents=True, exist_ok=True)
                (root / "src" / path).write_text(text)
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(check_layers.main([directory]), 1)
                self.assertEqual(check_layers.main(["--write", directory]), 0)
                self.assertEqual(check_layers.main([directory]), 0)
            self.assertIn("| codegen | `src/compiler/codegen` | ir, +llvm |", document.read_text())
            self.assertTrue(document.read_text().endswith("after\n"))


if __name__ == "__main__":
    unittest.main()
