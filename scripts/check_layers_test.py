#!/usr/bin/env python3
"""Shows that check_layers.py accepts what the table allows and finds what it forbids."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_layers


def check(files):
    """Runs the check over a small tree {path: text}; returns (exit status, output)."""
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory)
        for path, text in files.items():
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            (source / path).write_text(text)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = check_layers.main([directory])
        return status, output.getvalue()


class CheckLayers(unittest.TestCase):
    def assert_refused(self, files, expected):
        status, output = check(files)
        self.assertEqual(status, 1, output)
        self.assertIn(expected, output)

    def test_downward_includes_pass(self):
        status, output = check({
            "base/a.h": "#include <fmt/core.h>\n#include <vector>\n",
            "compiler/ir/b.h": '#include "base/a.h"\n',
            "compiler/schedule/c.h": '#include "compiler/ir/b.h"\n#include <sys/mman.h>\n',
            "compiler/schedule/c_test.cpp": '#include <gtest/gtest.h>\n#include "base/a.h"\n',
        })
        self.assertEqual(status, 0, output)

    def test_upward_include_is_refused(self):
        self.assert_refused(
            {"compiler/lower/a.h": "", "compiler/ir/b.h": '\n#include "compiler/lower/a.h"\n'},
            "compiler/ir/b.h:2: compiler/ir may not include compiler/lower/a.h")

    def test_generated_messages_are_fenced(self):
        line = '#include "compiler/frontend/onnx/proto/onnx.pb.h"\n'
        self.assertEqual(check({"compiler/frontend/zoo/a.cpp": line})[0], 0)
        self.assert_refused({"app/api/a.cpp": line},
                            "only compiler/frontend/onnx and compiler/frontend/zoo and fleet may include")

    def test_sideways_include_is_refused(self):
        self.assert_refused(
            {"compiler/schedule/a.h": "", "compiler/ops/b.h": '#include "compiler/schedule/a.h"\n'},
            "compiler/ops may not include compiler/schedule/a.h")

    def test_a_single_header_opens_nothing_else(self):
        files = {
            "tuner/measure/runner.h": "",
            "tuner/measure/local.h": "",
            "tuner/session/a.h": '#include "tuner/measure/runner.h"\n',
        }
        self.assertEqual(check(files)[0], 0)
        files["tuner/session/a.h"] = '#include "tuner/measure/local.h"\n'
        self.assert_refused(files, "tuner/session may not include tuner/measure/local.h")

    def test_tests_reach_everything_below_but_nothing_above(self):
        files = {
            "compiler/ir/a.h": "",
            "compiler/frontend/b_test.cpp": '#include "compiler/ir/a.h"\n',
        }
        self.assertEqual(check(files)[0], 0)
        self.assert_refused(
            {"app/api/a.h": "", "compiler/ir/b_test.cpp": '#include "app/api/a.h"\n'},
            "compiler/ir may not include app/api/a.h")

    def test_what_is_for_tests_stays_among_them(self):
        files = {
            "base/a_testing.h": "#include <gtest/gtest.h>\n",
            "compiler/ir/b_test.cpp": '#include "base/a_testing.h"\n',
        }
        self.assertEqual(check(files)[0], 0)
        files["compiler/ir/b.cpp"] = '#include "base/a_testing.h"\n'
        self.assert_refused(files, "only tests may include base/a_testing.h")

    def test_third_party_headers_stay_where_they_belong(self):
        self.assert_refused({"compiler/lower/a.cpp": "#include <llvm/IR/Module.h>\n"},
                            "only compiler/codegen/llvm may include <llvm/IR/Module.h>")
        self.assert_refused({"tuner/session/a.cpp": "#include <sqlite3.h>\n"},
                            "only tuner/records may include <sqlite3.h>")
        self.assert_refused({"base/a.cpp": "#include <gtest/gtest.h>\n"},
                            "only tests may include <gtest/gtest.h>")
        self.assert_refused({"base/a.cpp": "#include <boost/asio.hpp>\n"}, "is no known header")

    def test_runtime_reaches_no_third_party(self):
        self.assert_refused({"runtime/a.h": "#include <fmt/core.h>\n"}, "runtime reaches")
        self.assert_refused(
            {"base/text.h": "#include <fmt/core.h>\n", "runtime/a.h": '#include "base/text.h"\n'},
            "base/text.h:1: runtime reaches the third-party header <fmt/core.h>")

    def test_unknown_directories_and_relative_includes_are_refused(self):
        self.assert_refused({"compiler/magic/a.h": ""}, "this directory is no layer")
        self.assert_refused({"base/a.h": "", "base/b.h": '#include "a.h"\n'}, "not under src/")

    def test_the_table_points_downward_only(self):
        names = list(check_layers.LAYERS)
        for position, name in enumerate(names):
            for entry in check_layers.allowed(name):
                lower = check_layers.layers_in(entry)
                self.assertTrue(lower, f"{name} lists {entry}, which is no layer")
                for other in lower:
                    self.assertLessEqual(names.index(other), position, f"{name} lists {entry}")


if __name__ == "__main__":
    unittest.main()
