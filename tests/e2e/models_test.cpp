// Whole models, end to end: from the zoo or an ONNX file to an artifact that runs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tensor_files/npy.h"
#include "tests/support/own_commands.h"
#include "tests/support/tiny_onnx.h"

namespace attune {
namespace {

using Json = nlohmann::json;

class Models : public test::OwnCommands {
 protected:
  // A test case with inputs x = [1, -2, 3] and shape = [3, 1], in the form of ONNX's own.
  std::string write_case(const std::string& name, const std::string& op,
                         const std::vector<test::TinyInput>& inputs,
                         const std::vector<std::int64_t>& shape,
                         const std::vector<float>& expected) const {
    const std::string folder = directory_.file(name);
    std::filesystem::create_directories(folder + "/test_data_set_0");
    test::write_tiny_model(folder + "/model.onnx", op, inputs);
    test::write_tensor(folder + "/test_data_set_0/input_0.pb", {3}, std::vector<float>{1, -2, 3});
    if (inputs.size() > 1) {
      test::write_tensor(folder + "/test_data_set_0/input_1.pb", {2},
                         std::vector<std::int64_t>{3, 1});
    }
    test::write_tensor(folder + "/test_data_set_0/output_0.pb", shape, expected);
    return folder;
  }
};

TEST_F(Models, AnArtifactGivesWhatTheModelGives) {
  const std::string artifact = directory_.file("dqn.attune");
  const std::string onnx = directory_.file("dqn.onnx");
  output_of({"compile", "dqn", "-o", artifact});
  output_of({"zoo", "export", "dqn", "-o", onnx});
  runtime::Tensor input = runtime::Tensor::allocate(runtime::DType::F32, {1, 4, 84, 84}).value();
  for (std::size_t i = 0; i < input.as<float>().size(); ++i) {
    input.as<float>()[i] = static_cast<float>(i % 17) / 17;
  }
  const std::string file = directory_.file("x.npy");
  ASSERT_TRUE(tensor_files::write_npy(file, input).ok());
  for (const std::string& model : {artifact, onnx, std::string("dqn")}) {
    output_of({"run", model, "--input", "input=" + file, "--output", directory_.file("out")});
    const std::string bytes = directory_.read("out/output.npy");
    const auto output = tensor_files::parse_npy(bytes, "output.npy");
    ASSERT_TRUE(output.ok());
    EXPECT_EQ(output->elements(), 18);
    if (model == artifact) {
      directory_.write("first.npy", bytes);
    } else {
      EXPECT_EQ(bytes, directory_.read("first.npy")) << model;
    }
  }
}

TEST_F(Models, RunTellsOfInputsAndOutputs) {
  const Json document = Json::parse(output_of({"run", "mlp", "--top", "2", "--json"}));
  EXPECT_EQ(document.at("model"), "mlp");
  EXPECT_GT(document.at("latency_ms").get<double>(), 0);
  EXPECT_EQ(document.at("inputs")[0].at("shape"), Json({1, 784}));
  EXPECT_EQ(document.at("outputs")[0].at("top").size(), 2u);
}

TEST_F(Models, BenchTellsWhereTheTimeGoes) {
  const Json document =
      Json::parse(output_of({"bench", "dqn", "--layers", "--repeats", "5", "--json"}));
  for (const char* field : {"min", "median", "p90", "p99"}) {
    EXPECT_GT(document.at("latency_ms").at(field).get<double>(), 0) << field;
  }
  for (const char* field : {"gflops", "load_ms", "weight_bytes", "arena_bytes"}) {
    EXPECT_GT(document.at(field).get<double>(), 0) << field;
  }
  EXPECT_FALSE(document.at("target").get<std::string>().empty());
  EXPECT_GE(document.at("threads").get<int>(), 1);
  double percent = 0;
  for (const Json& layer : document.at("layers")) percent += layer.at("percent").get<double>();
  EXPECT_NEAR(percent, 100, 0.1);
}

// Of a model by its tasks, as `tasks` says it, of an artifact by its plan: only packing differs.
TEST_F(Models, BenchTellsHowFarLayersAreFromTheirBound) {
  const std::string artifact = directory_.file("mlp.attune");
  output_of({"compile", "mlp", "-o", artifact, "--no-look"});
  double tasks_us = 0;
  const Json tasks = Json::parse(output_of({"tasks", "mlp", "--no-run", "--json"}));
  for (const Json& task : tasks.at("tasks")) tasks_us += task.at("bound_us").get<double>();
  for (const std::string& model : {std::string("mlp"), artifact}) {
    const Json layers =
        Json::parse(output_of({"bench", model, "--layers", "--repeats", "5", "--json"}))["layers"];
    ASSERT_EQ(layers.size(), 3u);
    double bounds_us = 0;
    for (const Json& layer : layers) {
      bounds_us += layer.at("bound_us").get<double>();
      EXPECT_NEAR(layer.at("percent_of_bound").get<double>(),
                  0.1 * layer.at("bound_us").get<double>() / layer.at("ms").get<double>(), 1e-6);
    }
    EXPECT_NEAR(bounds_us, tasks_us, 0.1 * tasks_us) << model;
  }
  const std::string text = output_of({"bench", artifact, "--layers", "--repeats", "5"});
  EXPECT_NE(text.find("bound, ms % bound"), std::string::npos) << text;
}

TEST_F(Models, AnArtifactRunsWithFewerThreadsThanItWasMadeFor) {
  const std::string artifact = directory_.file("mlp.attune");
  output_of({"compile", "mlp", "-o", artifact, "--threads", "1"});
  EXPECT_EQ(Json::parse(output_of({"bench", artifact, "--repeats", "3", "--json"})).at("threads"),
            1);
  const test::ProcessResult more = run({"run", artifact, "--threads", "2"});
  EXPECT_EQ(more.status, 2);
  EXPECT_EQ(more.errors,
            "attune: error: 2 threads are asked for, but 'mlp' was compiled for 1\n"
            "hint: compile it with --threads 2\n");
}

// What it finds becomes records. The machine is measured, unlike in other tests.
TEST_F(Models, CompileLooksAtItsTasksAndRemembers) {
  const auto look = [&](const std::string& further) {
    const test::ProcessResult done =
        test::run_process({test::attune_program(), "compile", "squeezenet1_1", "-o",
                           directory_.file("s.attune"), "--threads", "1", "--json", further},
                          {{"XDG_DATA_HOME", directory_.file("data")},
                           {"XDG_CACHE_HOME", directory_.file("cache")},
                           {"ATTUNE_MACHINE", "measured"}});
    EXPECT_EQ(done.status, 0) << done.errors;
    return Json::parse(done.output).at("look");
  };
  EXPECT_EQ(look("--no-look").at("tasks"), 0);
  // Of a machine that others have, what was measured makes no sense now and then, or schedules take
  // too long to be timed.
  Json found;
  bool looked = false;
  std::size_t stored = 0;
  for (int i = 0; i < 5 && stored == 0; ++i) {
    found = look("--history=none");
    looked |= found.at("tasks") > 0;
    stored = Json::parse(output_of({"records", "list", "--json"})).at("records").size();
  }
  if (!looked) GTEST_SKIP() << "the machine is too busy";
  EXPECT_GT(stored, 0u);
  EXPECT_LE(found.at("better"), found.at("tasks"));
  EXPECT_GT(found.at("seconds").get<double>(), 0);
}

// As tests have it, the machine is not measured. What has its schedules needs no look.
TEST_F(Models, CompileSaysWhyItDidNotLook) {
  const auto compiled = [&](const std::string& further) {
    return test::run_process(
        {test::attune_program(), "compile", "mlp", "--json", further},
        {{"XDG_DATA_HOME", directory_.file("data")}, {"ATTUNE_MACHINE", "stated"}});
  };
  const std::string why =
      "the speed of this machine was not measured, so that no schedule was "
      "timed; `attune doctor` measures it";
  const test::ProcessResult refused = compiled("--history=none");
  EXPECT_EQ(Json::parse(refused.output).at("look").at("refused"), why);
  EXPECT_NE(refused.errors.find(why + "\n"), std::string::npos) << refused.errors;
  const test::ProcessResult unasked = compiled("--no-look");
  EXPECT_EQ(Json::parse(unasked.output).at("look").at("refused"), Json());
  EXPECT_EQ(unasked.errors.find(why), std::string::npos) << unasked.errors;
}

TEST_F(Models, CompilePrintsStagesOfTheModelAndOfItsTasks) {
  const std::string text = output_of({"compile", "mlp", "--emit=graph,tasks,te,trace,loops"});
  std::size_t at = 0;
  for (const char* stage : {"// graph", "// tasks", "// te", "// trace", "// loops"}) {
    const std::size_t found = text.find(std::string(stage) + "\n", at);
    ASSERT_NE(found, std::string::npos) << stage;
    at = found;
  }
  const Json document = Json::parse(output_of({"compile", "mlp", "--emit=tasks", "--json"}));
  EXPECT_EQ(document.at("stages")[0].at("name"), "tasks");
  EXPECT_EQ(document.at("kernels"), 3);
}

// An operator is a model of one task and one layer.
TEST_F(Models, AnOperatorHasOneTaskAndOneLayer) {
  const std::string spec = "dense:m=8,n=32,k=16";
  const Json report = Json::parse(output_of({"tasks", spec, "--seconds", "0.01", "--json"}));
  ASSERT_EQ(report.at("tasks").size(), 1U);
  EXPECT_EQ(report.at("tasks")[0].at("name"), spec);
  EXPECT_GT(report.at("tasks")[0].at("latency_ms"), 0);
  EXPECT_GT(report.at("tasks")[0].at("bound_us"), 0);
  const Json bench =
      Json::parse(output_of({"bench", spec, "--layers", "--repeats", "3", "--json"}));
  ASSERT_EQ(bench.at("layers").size(), 1U);
  EXPECT_GT(bench.at("layers")[0].at("ms"), 0);
  EXPECT_GT(bench.at("layers")[0].at("bound_us"), 0);
}

// On any processor of the family: the target names no features.
TEST_F(Models, TheZooTakesSchedulesThatShip) {
  for (const char* model : {"mlp", "squeezenet1_1"}) {
    for (const char* threads : {"1", "2"}) {
      const Json report = Json::parse(
          output_of({"tasks", model, "--target", "cpu -mcpu=znver4", "--threads", threads,
                     "--no-run", "--records", directory_.file("none.db"), "--json"}));
      const Json& tasks = report.at("tasks");
      const auto shipped = std::count_if(tasks.begin(), tasks.end(), [](const Json& task) {
        return task.at("schedule") == "shipped";
      });
      EXPECT_GE(2 * shipped, static_cast<std::ptrdiff_t>(tasks.size())) << model << " " << threads;
    }
  }
}

TEST_F(Models, RecordsThatFitNoLongerAreNamed) {
  const std::string tuned = directory_.file("tuned.db"), spoilt = directory_.file("spoilt.db");
  const std::string file = directory_.file("all.jsonl");
  const Json report =
      Json::parse(output_of({"tune", "mlp", "--trials", "3", "--threads", "1", "--records", tuned,
                             "-o", directory_.file("mlp.attune"), "--json", "-q"}));
  EXPECT_EQ(report.at("fallbacks"), Json::array());
  output_of({"records", "export", file, "--records", tuned});
  std::string lines = directory_.read("all.jsonl");
  const std::string good = "split output j ", bad = "split output q ";
  for (std::size_t at = 0; (at = lines.find(good, at)) != std::string::npos; at += bad.size()) {
    lines.replace(at, good.size(), bad);
  }
  directory_.write("all.jsonl", lines);
  output_of({"records", "import", file, "--records", spoilt});
  const std::vector<std::string> compile{"compile",   "mlp",  "--threads", "1",
                                         "--records", spoilt, "--no-look"};
  const auto with = [&](const char* option) {
    std::vector<std::string> words = compile;
    words.emplace_back(option);
    return run(words);
  };
  // What ships is next, on processors for which something does.
  const Json untouched =
      Json::parse(output_of({"tasks", "mlp", "--threads", "1", "--no-run", "--records",
                             directory_.file("none.db"), "--json"}));
  const std::string next = untouched.at("tasks")[0].at("schedule").get<std::string>();
  ASSERT_TRUE(next == "default" || next == "shipped") << next;
  const std::string reason = "stage 'output' has no loop 'q'";
  const Json list = Json::parse(with("--json").output).at("fallbacks");
  ASSERT_EQ(list.size(), 3u) << list;
  for (const Json& fallback : list) {
    EXPECT_EQ(fallback.at("wanted"), "recorded");
    EXPECT_EQ(fallback.at("used"), next);
    EXPECT_NE(fallback.at("reason").get<std::string>().find(reason), std::string::npos) << list;
    const std::string named =
        fmt::format("task {} '{}': its recorded schedule gave way to the {} one: {}\n",
                    fallback.at("key").get<std::string>(), fallback.at("name").get<std::string>(),
                    next, fallback.at("reason").get<std::string>());
    EXPECT_NE(with("-v").errors.find("\n" + named), std::string::npos) << named;
    if (fallback != list[0]) continue;
    const std::string warning =
        "warning: 3 tasks do not use the schedule chosen for them; the first is " + named;
    EXPECT_EQ(run(compile).errors.find(warning), 0u) << run(compile).errors;
  }
  EXPECT_EQ(with("-q").errors, "");
}

TEST_F(Models, TasksAreListedWithTheirShares) {
  const Json measured =
      Json::parse(output_of({"tasks", "mlp", "--seconds", "0.01", "--history", "none", "--json"}));
  double percent = measured.at("other_percent").get<double>();
  for (const Json& task : measured.at("tasks")) {
    percent += task.at("percent").get<double>();
    EXPECT_EQ(task.at("schedule"), "default");
    EXPECT_GT(task.at("flops").get<double>(), 0);
  }
  EXPECT_NEAR(percent, 100, 0.1);
  const Json listed = Json::parse(output_of({"tasks", "mlp", "--no-run", "--json"}));
  EXPECT_EQ(listed.at("tasks").size(), measured.at("tasks").size());
  EXPECT_FALSE(listed.contains("latency_ms"));
}

TEST_F(Models, CheckAgreesWithTheInterpreter) {
  for (const std::string model : {"mlp", "dqn", "lstm_lm"}) {
    const Json line = Json::parse(output_of({"check", model, "--json"}));
    EXPECT_EQ(line.at("case"), model);
    EXPECT_EQ(line.at("status"), "pass") << line;
    EXPECT_LT(line.at("max_rel_error").get<double>(), 1e-4);
  }
}

TEST_F(Models, CheckRunsAFolderOfTestCases) {
  const test::TinyInput x{"x", {"3"}};
  write_case("cases/a_right", "Relu", {x}, {3}, {1, 0, 3});
  write_case("cases/b_wrong", "Relu", {x}, {3}, {1, 0, 3.1F});
  write_case("cases/c_shape", "Relu", {x}, {1, 3}, {1, 0, 3});
  write_case("cases/d_unknown", "Frobnicate", {x}, {3}, {1, 0, 3});
  write_case("cases/e_bound", "Reshape", {x, {"shape", {"2"}, true}}, {3, 1}, {1, -2, 3});
  const test::ProcessResult result = run({"check", directory_.file("cases"), "--json"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.errors, "attune: error: 3 of 5 cases failed: 2 wrong, 1 unsupported\n");
  std::istringstream stream(result.output);
  std::vector<Json> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
  ASSERT_EQ(lines.size(), 5u);
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"pass", "3 elements agree"},
      {"wrong", "1 of 3 elements of output 'y' differ; element 2 is 3, expected 3.0999999"},
      {"wrong", "output 'y' has shape 3, expected 1x3"},
      {"unsupported", "1 node of the model is not supported: Frobnicate ('node')"},
      {"pass", "3 elements agree; known while compiling: shape"},
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].at("status"), expected[i].first) << lines[i];
    EXPECT_EQ(lines[i].at("message"), expected[i].second);
  }
  EXPECT_EQ(lines[0].at("case"), "a_right");
  EXPECT_NEAR(lines[1].at("max_abs_error").get<double>(), 0.1, 1e-6);
  EXPECT_EQ(
      Json::parse(output_of({"check", directory_.file("cases/a_right"), "--json"})).at("case"),
      "a_right");
}

TEST_F(Models, RunTakesAPicture) {
  const std::string model =
      test::write_tiny_model(directory_.file("model.onnx"), "Relu", {{"x", {"1", "3", "1", "2"}}});
  const std::string picture =
      directory_.write("p.ppm", std::string("P6 2 1 255 ") + "\xff\x01\x02\x01\xff\x02");
  output_of({"run", model, "--image", "x=" + picture, "--mean", "0.5", "--output",
             directory_.file("out")});
  const auto output = tensor_files::read_npy(directory_.file("out/y.npy"));
  ASSERT_TRUE(output.ok()) << output.error().message;
  const auto values = output->as<float>();
  ASSERT_EQ(values.size(), 6u);
  EXPECT_EQ(values[0], 0.5F);
  EXPECT_EQ(values[1], 0);
  EXPECT_EQ(values[3], 0.5F);
}

}  // namespace
}  // namespace attune
