#!/usr/bin/env python3
"""Shows that check_design.py finds what the design forbids, and nothing else."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_design


def check(files):
    """Runs the check over a small tree {path: text}; returns (exit status, output)."""
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        (root / "src/targets/cpu").mkdir(parents=True)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = check_design.main([directory])
        return status, output.getvalue()


class CheckDesign(unittest.TestCase):
    def assert_passes(self, files):
        status, output = check(files)
        self.assertEqual(status, 0, output)

    def assert_refused(self, files, expected):
        status, output = check(files)
        self.assertEqual(status, 1, output)
        self.assertIn(expected, output)

    def test_kinds_of_targets_are_compared_in_their_folders_only(self):
        line = 'if (target.kind == "cpu") {}\n'
        self.assert_passes({"src/targets/cpu/facts/a.cpp": line, "src/tuner/a_test.cpp": line})
        self.assert_refused({"src/tuner/a.cpp": line}, "src/tuner/a.cpp:1: asks which kind")
        self.assert_refused({"src/tuner/a.cpp": 'return "cpu" != target.kind;\n'}, "asks which kind")
        self.assert_passes({"src/tuner/a.cpp": 'if (kind == "found") {}\n'})

    def test_the_loader_alone_asks_what_a_model_is(self):
        for line in ["kind_of_model(text);\n", "if (model.is_operator()) {}\n",
                     "const bool is_op_spec = true;\n", "bool is_whole_model() const;\n",
                     "ModelKind kind;\n", "if (model.operator_facts) {}\n"]:
            self.assert_passes({check_design.LOADER: line, "src/app/a_test.cpp": line})
            self.assert_refused({"src/app/cli/a.cpp": line},
                                "src/app/cli/a.cpp:1: asks what a model's text names")
        self.assert_passes({"src/app/cli/a.cpp": "if (model.facts.contest) {}  // as is_operator was\n"})

    def test_the_builder_alone_lowers(self):
        line = "lower::lower(state);\n"
        self.assert_passes({check_design.BUILDER: line, "src/compiler/lower/a_test.cpp": line})
        self.assert_refused({"src/tuner/a.cpp": line}, "lowers a program")

    def test_the_builder_alone_generates_code(self):
        for line in ["code_generator_of(target).compile(loops, target);\n", "codegen::compile_module(a);\n"]:
            self.assert_passes({check_design.BUILDER: line, "src/compiler/kernel/a_test.cpp": line})
            self.assert_refused({"src/compiler/model/a.cpp": line}, "generates code")
        self.assert_passes({"src/app/a.cpp": "code_generator_of(target).texts;\n"})

    def test_loops_are_compiled_apart_only_to_prepare_constants(self):
        line = "kernel::compile(loops, target);\n"
        self.assert_passes({check_design.PREPARERS[0]: line})
        self.assert_refused({"src/tuner/a.cpp": line}, "compiles loops without kernel::build")

    def test_a_candidate_has_few_shapes(self):
        def structs(count):
            return "".join(f"struct A{i}Candidate {{}};\n" for i in range(count))
        self.assert_passes({"src/tuner/a.h": structs(5), "src/tuner/a_testing.h": structs(6)})
        self.assert_refused({"src/tuner/a.h": structs(6)}, "6 structs stand for a candidate")
        holds = "struct Found {\n  schedule::Trace trace;\n};\n"
        self.assert_refused({"src/tuner/a.h": structs(5), "src/tuner/session/b.h": holds},
                            "src/tuner/session/b.h: Found")
        self.assert_passes({"src/tuner/a.h": structs(5), "src/tuner/logs/b.h": holds})

    def test_directories_stay_small(self):
        many = {f"src/tuner/a{i}.h": "" for i in range(61)}
        self.assert_refused(many, "src/tuner: 61 sources, at most 60")
        self.assert_passes({f"tests/support/a{i}.h": "" for i in range(60)})
        self.assert_refused({f"tests/support/a{i}.h": "" for i in range(61)}, "tests/support: 61 sources")
        self.assert_refused({f"bench/a{i}": "#!/bin/sh\n" for i in range(61)}, "bench: 61 sources")
        self.assert_passes({f"{check_design.SIBLINGS[0]}/a{i}.h": "" for i in range(61)})


if __name__ == "__main__":
    unittest.main()
