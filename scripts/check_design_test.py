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
        (root / "src/targets").mkdir(parents=True)
        (root / "src/targets/list.inc").write_text("// The targets.\n#define ATTUNE_FACTS(kind)\n"
                                                   "ATTUNE_FACTS(cpu) ATTUNE_CODEGEN(cpu)\n"
                                                   "ATTUNE_FACTS(cuda)\n")
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

    def test_temporary_files_lie_in_scratch_folders(self):
        line = "const auto path = std::filesystem::temp_directory_path() / name;\n"
        self.assert_passes({"src/base/scratch_folder.cpp": line, "src/app/a_test.cpp": line})
        self.assert_refused({"src/app/a.cpp": line}, "src/app/a.cpp:1: names a file where all users write")

    def test_json_is_parsed_to_some_depth(self):
        line = "const Json json = Json::parse(text, nullptr, false);\n"
        self.assert_passes({"src/base/read_json.h": "if (json_depth(text) > 9) return {};\n" + line,
                            "src/tuner/cost_model/boosted_trees.cpp": line, "src/app/a_test.cpp": line})
        self.assert_refused({"src/app/a.cpp": "\n" + line}, "src/app/a.cpp:2: parses JSON of any depth")

    def test_kinds_of_targets_are_named_in_their_folders_only(self):
        line = 'if (target.kind == "cpu") {}\n'
        self.assert_passes({"src/targets/cpu/facts/a.cpp": line, "src/tuner/a_test.cpp": line,
                            "src/runtime/format/a.h": 'struct Buffer {\n  std::string device = "cpu";\n};\n'})
        self.assert_refused({"src/tuner/a.cpp": line}, 'src/tuner/a.cpp:1: "cpu" names a kind')
        for code in ['return "cpu" != target.kind;', 'if (target != "cpu") {}', 'devices.find("cuda");',
                     'text.starts_with("cuda -arch");', 'std::vector<std::string> keys = {"cpu"};',
                     'can_open("libcuda.so.1");', 'std::string target = "cpu";  // this machine',
                     "const char c = '\"'; find(\"cpu\");", 'fail("{} devices cpu are too many");']:
            self.assert_refused({"src/tuner/a.cpp": code + "\n"}, "names a kind")

    def test_what_only_looks_like_a_kind_passes(self):
        for code in ['if (kind == "found") {}', 'const int x = 1;  // as for "cpu"', '#include "targets/cuda/a.h"',
                     'open("/sys/devices/system/cpu/cpu");', 'target.attribute("mcpu");', 'cuda::open("a");',
                     'find("cpuset"), find("in_cuda"), find("sim");']:
            self.assert_passes({"src/tuner/a.cpp": code + "\n"})

    def test_frontends_name_kinds_in_sentences_only(self):
        self.assert_passes({"src/app/cli/a.cpp": 'line.text("--target", "for example \'cpu -mcpu=x\'");\n'})
        self.assert_refused({"src/app/verbs/a.cpp": 'say("for example \'cpu -mcpu=x\'");\n'}, "names a kind")
        self.assert_refused({"src/app/cli/a.cpp": 'if (text != "cpu") {}\n'}, "names a kind")
        self.assert_refused({"src/app/cli/a.cpp": 'run("cuda -arch=sm_80");\n'}, "names a kind")

    def test_fixed_words_are_few(self):
        word = 'json["cpu"] = 1;  // fixed word: a field\n'
        self.assert_passes({"src/app/a.cpp": word * check_design.MOST_FIXED_WORDS})
        self.assert_refused({"src/app/a.cpp": word * (check_design.MOST_FIXED_WORDS + 1)},
                            "9 lines hold fixed words, at most 8")
        self.assert_refused({"src/app/a.cpp": 'json["cpu"] = 1;  // a field\n'}, "names a kind")

    def test_facts_are_asked_instead_of_kinds(self):
        for code in ["if (target.launch.multiprocessors > 0) {}", "return launch.multiprocessors == 0;",
                     "if (target.kind == target::kDefaultKind) {}", "return kDefaultKind != kind;",
                     "if (targets::default_kind().name == kind) {}", "kind == targets::default_kind().name;"]:
            self.assert_refused({"src/tuner/a.cpp": code + "\n"}, "asks which kind")
            self.assert_passes({"src/targets/cpu/facts/a.cpp": code + "\n"})
        self.assert_passes({"src/tuner/a.cpp": "const double rounds = blocks / device.multiprocessors;\n"
                                               "const std::string kind{kDefaultKind};\n"})

    def test_the_lists_kinds_are_those_of_the_check(self):
        self.assert_passes({"src/targets/list.inc": "ATTUNE_FACTS(other)\n",
                            "src/tuner/a.cpp": 'f("cpu");\n'})
        self.assert_refused({"src/targets/list.inc": "ATTUNE_FACTS(other)\n",
                             "src/tuner/a.cpp": 'f("other");\n'}, "names a kind")

    def test_the_loader_alone_asks_what_a_model_is(self):
        for line in ["kind_of_model(text);\n", "if (model.is_operator()) {}\n",
                     "const bool is_op_spec = true;\n", "bool is_whole_model() const;\n",
                     "f(ModelKind());\n", "if (model.operator_facts) {}\n",
                     "if (zoo::has(text)) {}\n", "if (runtime::looks_like_artifact(text)) {}\n",
                     'return text.ends_with(".onnx");\n', 'if (name.ends_with(".attune")) {}\n']:
            self.assert_passes({check_design.LOADER: line, "src/app/a_test.cpp": line})
            self.assert_refused({"src/app/cli/a.cpp": line},
                                "src/app/cli/a.cpp:1: asks what a model's text names")
        self.assert_passes({"src/app/cli/a.cpp": "if (model.facts.contest) {}  // as is_operator was\n"})
        self.assert_passes({check_design.MODEL_TEXT: 'return text.ends_with(".onnx");\n',
                            "src/app/cli/b.cpp": 'if (path.extension() == ".onnx") {}\n'})

    def test_the_builder_alone_lowers(self):
        line = "lower::lower(state);\n"
        self.assert_passes({check_design.BUILDER: line, "src/compiler/lower/a_test.cpp": line})
        self.assert_refused({"src/tuner/a.cpp": line}, "lowers a program")

    def test_the_builder_alone_generates_code(self):
        for line in ["code_generator_of(target).compile(loops, target);\n",
                     "const auto& g = code_generator_of(target); g.link(objects);\n",
                     "void f(const CodeGenerator* one) {\n  one->compile(loops, target);\n",
                     "const auto make = kernel::code_generators()[0]->compile;\n"]:
            self.assert_passes({check_design.BUILDER: line, "src/compiler/kernel/a_test.cpp": line})
            self.assert_refused({"src/compiler/model/a.cpp": line}, "generates code")
        self.assert_passes({"src/app/a.cpp": "code_generator_of(target).texts;\n",
                            "src/app/b.cpp": "library.link(objects);\n",
                            "src/targets/cpu/codegen/codegen.cpp":
                                "const CodeGenerator code_generator = {.compile = compile, .link = link};\n"})

    def test_loops_are_compiled_apart_only_to_prepare_constants(self):
        line = "kernel::compile(loops, target);\n"
        self.assert_passes({check_design.PREPARERS[0]: line})
        self.assert_refused({"src/tuner/a.cpp": line}, "compiles loops without kernel::build")

    def test_a_candidate_has_few_shapes(self):
        def structs(count):
            return "".join(f"struct A{i}Candidate {{}};\n" for i in range(count))
        self.assert_passes({"src/tuner/a.h": structs(5), "src/tuner/a_testing.h": structs(6)})
        self.assert_refused({"src/tuner/a.h": structs(6)}, "6 structs stand for a candidate")
        self.assert_refused({"src/tuner/a.h": structs(5) + "struct CandidateView {};\n"}, "a.h: CandidateView")

    def test_a_trace_with_a_time_is_a_candidate_whatever_it_is_called(self):
        five = "".join(f"struct A{i}Candidate {{}};\n" for i in range(5))
        for members in ["schedule::Trace trace;\n  double us = 0;", "std::string trace;\n  outcome::Outcome outcome;",
                        "const Candidate* candidate = nullptr;\n  std::optional<double> time_us = {};",
                        "space::Candidate candidate;\n  std::optional<double> time_us;",
                        "model::Schedule schedule = {};\n  double best_us = 0;",
                        "model::Schedule schedule = {};\n  std::optional<measure::RunResult> result = {};",
                        "schedule::Trace trace;\n  records::Record record;",
                        "std::uint64_t index = 0, trace_hash = 0;\n  double predicted_us = 0;"]:
            found = f"struct Found {{\n  {members}\n}};\n"
            self.assert_refused({"src/tuner/a.h": five, "src/tuner/logs/b.h": found}, "src/tuner/logs/b.h: Found")
            self.assert_passes({"src/tuner/a.h": five, "src/compiler/b.h": found})
        for members in ["schedule::Trace trace;", "double us = 0;  // of its trace", "std::string best_trace;\n  double us = 0;",
                        "space::Candidate candidate;\n  double timeout_ms = 0;", "model::Schedule schedule;\n  double us() const;"]:
            self.assert_passes({"src/tuner/a.h": five, "src/tuner/b.h": f"struct Found {{\n  {members}\n}};\n"})
        self.assert_passes({"src/tuner/a.h": five, "src/tuner/records/hint.h":
                            "struct Hint {\n  std::string trace;\n  double time_us = 0;\n};\n"})

    def test_nothing_changes_that_belongs_to_nobody(self):
        for line in ["static int count = 0;", "  static Cache cache;", "  static std::map<A, B> known{};",
                     "thread_local int depth;", "int total = 0;", "std::atomic<bool> stop{false};",
                     "Note* g_note = nullptr;", "static const char* name = \"a\";", "  static Foo foo(3, \"a b\");",
                     "struct sigaction before = {};", "std::array<int, 3> sizes;", "int sizes[3] = {1, 2, 3};",
                     "inline std::mutex mutex;", "  static inline int made = 0;"]:
            self.assert_refused({"src/base/a.cpp": line + "\n"}, "src/base/a.cpp:1: '")
            self.assert_passes({"src/base/a_test.cpp": line + "\n"})
        for line in ["static const int count = 0;", "constexpr int kCount = 3;", "  static Result<A> open(const B& b);",
                     "  static const Kind* const list[] = {", "struct Named {", "struct Named final : Base {",
                     "enum class Kind : int {", "using A = int;", "A f(int b) {", "  int local = 0;", "// int x = 0;",
                     "inline constexpr double kHalf = 0.5;", "extern const Tuning target_tuning;",
                     "  static std::size_t index(int i) { return 0; }", "  static Foo make();", "template <typename T>",
                     "const std::string kText = R\"(\nint x = 0;\n)\";"]:
            self.assert_passes({"src/base/a.cpp": line + "\n"})

    def test_what_may_change_is_listed_with_its_reason(self):
        path = "src/app/cli/interrupt.cpp"
        both = "std::atomic<bool> stop_requested;\nstd::atomic<int> signal_number;\n"
        self.assert_passes({path: both})
        self.assert_refused({path: both + "int other = 0;\n"}, f"{path}:3: 'other' changes")
        self.assert_refused({path: "std::atomic<bool> stop_requested;\n"}, "'signal_number' is allowed to change, but")
        self.assertTrue(all(reason for _, reason in check_design.STATE.values()))

    def test_directories_stay_small(self):
        many = {f"src/tuner/a{i}.h": "" for i in range(61)}
        self.assert_refused(many, "src/tuner: 61 sources, at most 60")
        self.assert_passes({f"tests/support/a{i}.h": "" for i in range(60)})
        self.assert_refused({f"tests/support/a{i}.h": "" for i in range(61)}, "tests/support: 61 sources")
        self.assert_refused({f"bench/a{i}": "#!/bin/sh\n" for i in range(61)}, "bench: 61 sources")

    def test_siblings_by_name_are_not_counted(self):
        for path, pattern in check_design.SIBLINGS.items():
            siblings = {f"{path}/{pattern.replace('*', f'a{i}')}.cpp": "" for i in range(61)}
            self.assert_passes({**siblings, f"{path}/other.h": ""})
            self.assert_refused({**siblings, **{f"{path}/a{i}.h": "" for i in range(61)}},
                                f"{path}: 61 sources besides {pattern}, at most 60")
            self.assert_refused({f"{path}/other.h": ""}, f"{path}: 1 sources need no exemption")


if __name__ == "__main__":
    unittest.main()
