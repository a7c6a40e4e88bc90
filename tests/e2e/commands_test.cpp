// The commands around tuning, end to end: compile, run, check, records and doctor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/text_file.h"
#include "targets/kinds.h"
#include "tensor_files/npy.h"
#include "tests/support/own_commands.h"
#include "tests/support/tiny_onnx.h"

namespace attune {
namespace {

using Json = nlohmann::json;

class Commands : public test::OwnCommands {};

runtime::Tensor numbers(std::vector<std::int64_t> shape) {
  runtime::Tensor tensor = runtime::Tensor::allocate(runtime::DType::F32, std::move(shape)).value();
  std::span<float> values = tensor.as<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
  }
  return tensor;
}

TEST_F(Commands, EveryCommandHasAHelpPageWithExamples) {
  for (const std::string verb : {"tune",
                                 "bench",
                                 "compile",
                                 "run",
                                 "check",
                                 "records",
                                 "records list",
                                 "records best",
                                 "records export",
                                 "records import",
                                 "records prune",
                                 "records bundle",
                                 "records hints",
                                 "records curve",
                                 "tasks",
                                 "key",
                                 "key new",
                                 "zoo list",
                                 "zoo export",
                                 "doctor",
                                 "simulate",
                                 "submit",
                                 "jobs list",
                                 "jobs show",
                                 "jobs watch",
                                 "jobs pause",
                                 "jobs resume",
                                 "jobs stop",
                                 "jobs cancel",
                                 "scheduler",
                                 "scheduler calibrate",
                                 "scheduler replay"}) {
    std::vector<std::string> words;
    const std::size_t blank = verb.find(' ');
    words.push_back(verb.substr(0, blank));
    if (blank != std::string::npos) words.push_back(verb.substr(blank + 1));
    words.push_back("--help");
    const std::string page = output_of(words);
    EXPECT_EQ(page.find("usage: attune " + verb), 0u) << page;
    EXPECT_NE(page.find("\nexamples:\n  attune "), std::string::npos) << page;
  }
  EXPECT_EQ(output_of({"--version"}).find("attune "), 0u);
}

TEST_F(Commands, SimulateGivesTheSameBytesForTheSameSeed) {
  const std::string chart = directory_.file("chart.svg");
  const std::vector<std::string> words{"simulate", "--jobs",  "3", "--batches", "5",
                                       "--json",   "--seeds", "2", "--gantt",   chart};
  const std::string first = output_of(words);
  const std::string svg = read_text_file(chart).value();
  EXPECT_EQ(output_of(words), first);
  EXPECT_EQ(read_text_file(chart).value(), svg);
  EXPECT_TRUE(svg.starts_with("<svg "));
  const Json report = Json::parse(first);
  EXPECT_EQ(report["policy"], "makespan");
  EXPECT_GE(report["ratio_mean"].get<double>(), 1);
  EXPECT_LE(report["utilisation"]["host"].get<double>(), 1 + 1e-9);
}

TEST_F(Commands, CompilePrintsTheStagesInOrder) {
  const std::string text =
      output_of({"compile", "matmul:m=16,n=16,k=16", "--emit=asm,te,loops,llvm,trace,flatten"});
  std::size_t at = 0;
  for (const char* stage : {"// te", "// trace", "// flatten", "// loops", "// llvm", "// asm"}) {
    const std::size_t found = text.find(std::string(stage) + "\n", at);
    ASSERT_NE(found, std::string::npos) << stage;
    at = found;
  }
}

// Each can be asked for by the name that the list has, and the help page names those without
// passes.
TEST_F(Commands, CompileListsTheStages) {
  const std::string page = output_of({"compile", "--emit=help"});
  EXPECT_EQ(output_of({"compile", "mlp", "--emit", "help"}), page);
  std::size_t at = 0;
  for (const char* line :
       {"  import                the graph as its file has it\n",
        "  fold_constants        small nodes of constants become constants\n",
        "  layouts               ", "  graph                 the graph that tasks are cut from\n",
        "  tasks                 ", "  schedules             ", "  te                    ",
        "  unroll_loops          unrolled loops written out\n", "  loops                 ",
        "  ptx                   ", "  asm                   the machine's instructions (cpu)\n",
        "  plan                  "}) {
    const std::size_t found = page.find(line, at);
    ASSERT_NE(found, std::string::npos) << line << "in\n" << page;
    at = found;
  }
  const std::string help = output_of({"compile", "--help"});
  EXPECT_NE(
      help.find(
          "print stages: import, optimise, constants, layouts, graph, tasks, schedules, look, "
          "te, trace, nests, loops, cuda, ptx, llvm, asm, kernels, plan, or passes; "
          "help says what each is"),
      std::string::npos)
      << help;
}

TEST_F(Commands, TheTraceThatCompilePrintsCanBeUsedAgain) {
  const std::string spec = "conv2d:h=7,w=7,ic=8,oc=16,kh=3,kw=3,pad=1";
  const std::string trace = output_of({"compile", spec, "--emit=trace"});
  const std::string file = directory_.write("best.trace", trace);
  EXPECT_EQ(output_of({"compile", spec, "--emit=trace", "--schedule", file}), trace);
  const Json bench = Json::parse(
      output_of({"bench", spec, "--schedule", file, "--repeats", "3", "--json", "--threads", "1"}));
  EXPECT_EQ(bench.at("schedule"), "file");
  EXPECT_EQ(bench.at("trace"), trace);
}

TEST_F(Commands, CompileWritesASharedObject) {
  output_of({"compile", "softmax:m=4,n=16", "-o", directory_.file("softmax.so")});
  EXPECT_EQ(directory_.read("softmax.so").substr(0, 4),
            "\x7f"
            "ELF");
}

// The kernels of an operator come by all the steps by which a model's do.
TEST_F(Commands, CompileOfAnObjectHasAllSteps) {
  const std::string file = directory_.file("dense.so");
  const Json report = Json::parse(output_of(
      {"compile", "dense:m=8,n=32,k=64", "--default", "-o", file, "--emit=plan", "--json"}));
  EXPECT_EQ(directory_.read("dense.so").substr(0, 4),
            "\x7f"
            "ELF");
  std::vector<std::string> steps;
  for (const Json& pass : report.at("passes")) steps.push_back(pass.at("name"));
  for (const char* step : {"import", "layouts", "tasks", "schedules", "kernels", "plan", "write"}) {
    EXPECT_EQ(std::count(steps.begin(), steps.end(), step), 1) << step;
  }
  EXPECT_EQ(report.at("stages").at(0).at("name"), "plan");
  EXPECT_EQ(report.at("calls"), 1);
  EXPECT_GT(report.at("weight_bytes"), 0);
}

// A name decides less than what is in it.
TEST_F(Commands, TheOneScheduleOfAModelIsNamed) {
  const auto schedule_of = [&](const std::string& model) {
    return Json::parse(output_of({"run", model, "--default", "--json"})).at("schedule");
  };
  const std::string file =
      test::write_tiny_model(directory_.file("relu.onnx"), "Relu", {{"x", {"16", "77"}}});
  EXPECT_EQ(schedule_of("elementwise:m=16,n=77,op=relu"), "the default schedule");
  EXPECT_EQ(schedule_of(file), "the default schedule");
  EXPECT_EQ(schedule_of("mlp"), "default schedules");
}

TEST_F(Commands, RunMultipliesTwoFiles) {
  const runtime::Tensor a = numbers({3, 5});
  const runtime::Tensor b = numbers({5, 4});
  ASSERT_TRUE(tensor_files::write_npy(directory_.file("a.npy"), a).ok());
  ASSERT_TRUE(tensor_files::write_npy(directory_.file("b.npy"), b).ok());
  output_of({"run", "matmul:m=3,n=4,k=5", "--input", "a=" + directory_.file("a.npy"), "--input",
             "b=" + directory_.file("b.npy"), "--output", directory_.file("out")});
  const auto product = tensor_files::read_npy(directory_.file("out/output.npy"));
  ASSERT_TRUE(product.ok()) << product.error().message;
  ASSERT_EQ(product->elements(), 12);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      float expected = 0;
      for (std::size_t k = 0; k < 5; ++k) {
        expected += a.as<float>()[i * 5 + k] * b.as<float>()[k * 4 + j];
      }
      EXPECT_EQ(product->as<float>()[i * 4 + j], expected);
    }
  }
}

// A 1 x 1 convolution with the unit matrix as weights copies its input, whatever layout the
// operator keeps it in.
TEST_F(Commands, RunShowsActivationsAsNchw) {
  const runtime::Tensor data = numbers({1, 20, 3, 2});
  runtime::Tensor weight = runtime::Tensor::allocate(runtime::DType::F32, {20, 20, 1, 1}).value();
  for (std::size_t i = 0; i < 20; ++i) weight.as<float>()[i * 21] = 1;
  ASSERT_TRUE(tensor_files::write_npy(directory_.file("data.npy"), data).ok());
  ASSERT_TRUE(tensor_files::write_npy(directory_.file("weight.npy"), weight).ok());
  output_of({"run", "conv2d:h=3,w=2,ic=20,oc=20,kh=1,kw=1", "--input",
             "data=" + directory_.file("data.npy"), "--input",
             "weight=" + directory_.file("weight.npy"), "--output", directory_.file("out")});
  EXPECT_EQ(directory_.read("out/output.npy"), directory_.read("data.npy"));
}

TEST_F(Commands, RunRefusesAnInputOfAnotherShapeOrType) {
  ASSERT_TRUE(tensor_files::write_npy(directory_.file("a.npy"), numbers({5, 3})).ok());
  const test::ProcessResult shape =
      run({"run", "matmul:m=3,n=4,k=5", "--input", "a=" + directory_.file("a.npy")});
  EXPECT_EQ(shape.status, 2);
  EXPECT_EQ(shape.errors, "attune: error: '" + directory_.file("a.npy") +
                              "' has shape 5x3, but input 'a' is 3x5\n");
  const runtime::Tensor integers = runtime::Tensor::allocate(runtime::DType::I32, {3, 5}).value();
  ASSERT_TRUE(tensor_files::write_npy(directory_.file("i.npy"), integers).ok());
  const test::ProcessResult type =
      run({"run", "matmul:m=3,n=4,k=5", "--input", "a=" + directory_.file("i.npy")});
  EXPECT_EQ(type.status, 2);
  EXPECT_EQ(type.errors, "attune: error: '" + directory_.file("i.npy") +
                             "' holds i32, but input 'a' is f32\n"
                             "hint: convert it in NumPy with .astype(…)\n");
}

TEST_F(Commands, RunShowsTheLargestElements) {
  const Json document = Json::parse(output_of({"run", "softmax:m=2,n=8", "--top", "3", "--json"}));
  const Json& output = document.at("outputs")[0];
  EXPECT_EQ(output.at("shape"), Json({2, 8}));
  ASSERT_EQ(output.at("top").size(), 3u);
  EXPECT_EQ(output.at("top")[0].at("value"), output.at("max"));
  EXPECT_GE(output.at("top")[0].at("value"), output.at("top")[1].at("value"));
}

TEST_F(Commands, CheckPassesForEveryFamily) {
  const std::string lines = output_of({"check", "--all", "--json"});
  std::istringstream stream(lines);
  std::size_t cases = 0;
  for (std::string line; std::getline(stream, line); ++cases) {
    const Json result = Json::parse(line);
    EXPECT_EQ(result.at("status"), "pass") << line;
    for (const char* field : {"case", "max_abs_error", "max_rel_error", "message"}) {
      EXPECT_TRUE(result.contains(field)) << field;
    }
  }
  EXPECT_GE(cases, 20u);
}

TEST_F(Commands, AutotvmLogsGoBothWays) {
  const std::string spec = "dense:m=8,n=32,k=16";
  const std::string from = directory_.file("from.db"), to = directory_.file("to.db");
  const std::string log = directory_.file("tuned.log");
  output_of({"tune", spec, "--trials", "6", "--threads", "1", "-q", "--records", from});
  output_of({"records", "export", log, "--format=autotvm", "-q", "--records", from});
  const Json report = Json::parse(
      output_of({"records", "import", log, "--threads", "1", "--json", "--records", to}));
  EXPECT_EQ(report.at("format"), "autotvm");
  EXPECT_GE(report.at("mapped"), 6);
  EXPECT_EQ(report.at("tasks"), Json::array({spec}));
  EXPECT_EQ(report.at("unmapped"), Json::object());
  // Hints of the same schedules, the best first; no records.
  EXPECT_EQ(Json::parse(output_of({"records", "list", "--json", "--records", to})).at("records"),
            Json::array());
  const Json hints =
      Json::parse(output_of({"records", "hints", spec, "--json", "--records", to})).at("hints");
  ASSERT_GE(hints.size(), 6u);
  // Schedules that are equally fast may stand in either order, here and in the records.
  std::set<std::string> hinted;
  double before_us = 0;
  for (const Json& hint : hints) {
    hinted.insert(hint.at("trace"));
    EXPECT_LE(before_us, hint.at("foreign_time_us"));
    before_us = hint.at("foreign_time_us");
  }
  EXPECT_TRUE(hinted.contains(output_of({"records", "best", spec, "--records", from})));
  const Json curves =
      Json::parse(output_of({"records", "curve", spec, "--json", "--records", from})).at("curves");
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].at("trials"), curves[0].at("bests_us").size());
  EXPECT_EQ(curves[0].at("best_us"), curves[0].at("bests_us").back());
}

TEST_F(Commands, TheRestOfADamagedLogIsImported) {
  const std::string line =
      R"({"input": ["llvm", "dense_pack.x86", [["TENSOR", [8, 16], "float32"], )"
      R"(["TENSOR", [32, 16], "float32"], null, "float32"], {}], "config": {"index": 0, )"
      R"("code_hash": null, "entity": [["tile_y", "sp", [-1, 4]], ["tile_x", "sp", [-1, 16]]]}, )"
      R"("result": [[0.0001], 0, 1.0, 1600000000.0], "version": 0.2, "tvm_version": "0.8.0"})";
  directory_.write("tuned.log", "# a comment\n{\"input\": [\"llvm\", \"t\", []],\n" + line + "\n");
  const std::string file = directory_.file("tuned.log"), store = directory_.file("records.db");
  const test::ProcessResult result = run({"records", "import", file, "--json", "--records", store});
  EXPECT_EQ(result.status, 1);
  const std::string where =
      "line 2, column 29: syntax error while parsing object key - unexpected end of input; "
      "expected string literal";
  EXPECT_EQ(result.errors, where + "\nattune: error: 1 line of '" + file +
                               "' was left out, the first at " + where +
                               "\nhint: the other lines were read as ever\n");
  const Json report = Json::parse(result.output);
  EXPECT_EQ(report.at("problems"), Json::array({where}));
  EXPECT_EQ(report.at("added"), 1);
  EXPECT_EQ(report.at("comments"), 1);
}

TEST_F(Commands, RecordsOfAMissingFileAreEmpty) {
  EXPECT_EQ(Json::parse(output_of({"records", "list", "--json"})),
            Json::parse("{\"records\": []}"));
  EXPECT_FALSE(std::filesystem::exists(directory_.file("data")));
}

TEST_F(Commands, RecordsTravelFromStoreToStore) {
  const std::string spec = "matmul:m=8,n=16,k=8";
  const std::string from = directory_.file("from.db");
  const std::string to = directory_.file("to.db");
  const std::string file = directory_.file("all.jsonl");
  output_of({"tune", spec, "--trials", "6", "--threads", "1", "-q", "--records", from});
  output_of({"records", "export", file, "--records", from});
  output_of({"records", "import", file, "--records", to});
  const auto listed = [&](const std::string& store) {
    return Json::parse(output_of({"records", "list", "--json", "--records", store})).at("records");
  };
  EXPECT_EQ(listed(from).size(), listed(to).size());
  EXPECT_EQ(output_of({"records", "best", spec, "--records", from}),
            output_of({"records", "best", spec, "--records", to}));
  const test::ProcessResult again = run({"records", "import", file, "--records", to});
  EXPECT_EQ(again.errors.find("added 0 records"), 0u) << again.errors;
  output_of({"records", "prune", "--keep", "1", "--records", to});
  EXPECT_EQ(listed(to).size(), 1u);
}

TEST_F(Commands, DoctorDescribesTheMachine) {
  const Json document = Json::parse(output_of({"doctor", "--json", "--seconds", "0.02"}));
  for (const char* field : {"peak_gflops_1", "peak_gflops_all", "triad_gbps_all"}) {
    EXPECT_GT(document.at(field).get<double>(), 0) << field;
  }
  EXPECT_GE(document.at("usable_cores").get<int>(), 1);
  EXPECT_GE(document.at("cores").get<int>(), document.at("usable_cores").get<int>());
  for (const char* fact :
       {"ghz", "issue_per_cycle", "fma_latency_cycles", "store_bytes_per_cycle"}) {
    EXPECT_GT(document.at("machine").at(fact).get<double>(), 0) << fact;
  }
  EXPECT_FALSE(document.at("cpu").get<std::string>().empty());
  Json kinds = Json::array();
  for (const target::Kind* kind : targets::kinds()) kinds.push_back(kind->name);
  EXPECT_EQ(document.at("devices"), kinds);
  // What targets and their compilers say that they need, under the names that scripts know.
  for (const char* library : {"cuda", "nvrtc", "opencl"}) {
    EXPECT_TRUE(document.at("libraries").at(library).is_boolean()) << library;
  }
  EXPECT_TRUE(document.at("sandbox").at("isolated_runner").get<bool>());
}

}  // namespace
}  // namespace attune
