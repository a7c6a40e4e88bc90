// Models of f32 in other precisions, through the commands: near what f32 gives, tasks and records
// of their own, and told everywhere.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "compiler/ops/precision.h"
#include "tensor_files/npy.h"
#include "tests/support/own_commands.h"

namespace attune {
namespace {

using Json = nlohmann::json;

class Precisions : public test::OwnCommands {
 protected:
  // The elements of an output of a model on random inputs.
  std::vector<float> output_of(const std::string& model, const std::string& precision,
                               const std::string& output) const {
    const std::string folder = directory_.file(model + "." + precision);
    json_of({"run", model, "--precision", precision, "--output", folder, "--default"});
    const auto tensor =
        tensor_files::parse_npy(directory_.read(model + "." + precision + "/" + output), output);
    EXPECT_TRUE(tensor.ok());
    const auto elements = tensor->as<float>();
    return {elements.begin(), elements.end()};
  }
  std::set<std::string> keys_of(const std::string& model, const std::string& precision) const {
    const Json report = json_of({"tasks", model, "--no-run", "--precision", precision});
    std::set<std::string> keys;
    for (const Json& task : report["tasks"]) keys.insert(task["key"].get<std::string>());
    EXPECT_GE(keys.size(), 3U);
    return keys;
  }
};

// Of the largest element.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0, difference = 0;
  EXPECT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, double{std::abs(a[i])});
    difference = std::max(difference, double{std::abs(a[i] - b[i])});
  }
  return difference / largest;
}

TEST_F(Precisions, AgreeWithTheInterpreter) {
  for (const char* target : {"cpu", "sim"}) {
    for (const char* model : {"mlp", "dqn"}) {
      for (const char* precision : {"f16", "bf16"}) {
        const Json result = json_of({"check", model, "--target", target, "--precision", precision});
        EXPECT_EQ(result["status"], "pass") << target << " " << model << " " << result;
        EXPECT_EQ(result["precision"], precision);
        // It was computed in 16 bits.
        EXPECT_GT(result["max_rel_error"].get<double>(), 1e-5) << target << " " << model;
      }
    }
  }
}

TEST_F(Precisions, AreNearF32) {
  struct Case {
    const char *model, *output;
    int depth;  // heavy operators one behind the other
  };
  for (const Case& test :
       {Case{"squeezenet1_1", "output.npy", 18}, Case{"lstm_lm", "logits.npy", 5},
        Case{"bert_tiny", "last_hidden_state.npy", 24}}) {
    const std::vector<float> wide = output_of(test.model, "f32", test.output);
    for (const ops::Precision precision : {ops::Precision::F16, ops::Precision::BF16}) {
      const std::string name(ops::name_of(precision));
      const double away = difference(wide, output_of(test.model, name, test.output));
      EXPECT_GT(away, 0) << test.model << " " << name;
      EXPECT_LE(away, ops::tolerance_of(precision, test.depth)) << test.model << " " << name;
    }
  }
}

TEST_F(Precisions, AreTasksOfTheirOwn) {
  std::set<std::string> all;
  std::size_t sum = 0;
  for (const char* precision : {"f32", "f16", "bf16"}) {
    const auto keys = keys_of("mlp", precision);
    all.insert(keys.begin(), keys.end());
    sum += keys.size();
  }
  EXPECT_EQ(all.size(), sum);
  EXPECT_EQ(keys_of("mlp", "tf32"), keys_of("mlp", "f32")) << "this target has no units for tf32";
}

TEST_F(Precisions, RecordsOfOneServeNoOther) {
  const std::string records = directory_.file("records.db");
  const Json tuned = json_of({"tune", "mlp", "--target", "sim", "--trials", "4", "--precision",
                              "f16", "--records", records, "-o", directory_.file("mlp.attune")});
  EXPECT_EQ(tuned["precision"], "f16");
  const auto known = [&](const std::string& precision) {
    const Json report = json_of({"tasks", "mlp", "--target", "sim", "--no-run", "--records",
                                 records, "--precision", precision});
    std::size_t count = 0;
    for (const Json& task : report["tasks"]) count += task.contains("best_us") ? 1 : 0;
    return count;
  };
  EXPECT_GT(known("f16"), 0U);
  EXPECT_EQ(known("f32"), 0U);
  EXPECT_EQ(known("bf16"), 0U);
}

TEST_F(Precisions, AnArtifactIsSmallerAndSaysWhatItIs) {
  const std::string wide = directory_.file("wide.attune"), half = directory_.file("half.attune");
  json_of({"compile", "mlp", "--no-look", "-o", wide});
  EXPECT_EQ(json_of({"compile", "mlp", "--no-look", "--precision", "f16", "-o", half})["precision"],
            "f16");
  EXPECT_LT(std::filesystem::file_size(half), 0.55 * std::filesystem::file_size(wide));
  EXPECT_EQ(json_of({"run", wide})["precision"], "f32");
  EXPECT_EQ(json_of({"bench", half, "--seconds", "0.01"})["precision"], "f16");
  const test::ProcessResult refused = run({"run", half, "--precision", "f16"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.errors, "attune: error: '" + half +
                                "' is an artifact, compiled in f16\n"
                                "hint: give --precision when the model is compiled\n");
}

TEST_F(Precisions, WhatATargetDoesNotHaveIsTold) {
  const test::ProcessResult result =
      run({"bench", "mlp", "--precision", "tf32", "--seconds", "0.01", "--json"});
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.errors.find("the target has no units for tf32: it is computed in f32\n"),
            std::string::npos)
      << result.errors;
  EXPECT_EQ(Json::parse(result.output)["precision"], "f32");
}

}  // namespace
}  // namespace attune
