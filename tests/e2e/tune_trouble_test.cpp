// Tuning runs that cannot succeed: they end with clear words, and lose nothing.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/temporary_directory_testing.h"
#include "tests/support/process.h"
#include "tests/support/tiny_onnx.h"

namespace attune {
namespace {

using Json = nlohmann::json;

class TuneTrouble : public ::testing::Test {
 protected:
  test::ProcessResult tune(std::vector<std::string> words) const {
    words.insert(words.begin(), {test::attune_program(), "tune"});
    words.insert(words.end(), {"--threads", "1", "--records", directory_.file("records.db")});
    return test::run_process(words, {{"XDG_DATA_HOME", directory_.path().string()}});
  }
  test::TemporaryDirectory directory_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A millisecond is too short for any candidate.
TEST_F(TuneTrouble, WhenAllCandidatesFailTheHistogramSaysHow) {
  const std::vector<std::string> words = {
      "matmul:m=640,n=640,k=640", "--timeout", "0.001", "--trials", "3", "--batch", "3"};
  const test::ProcessResult text = tune(words);
  EXPECT_EQ(text.status, 1);
  EXPECT_TRUE(contains(text.output, "\nfailures\ntimed_out ")) << text.output;
  // Whichever of the three was the first to fail.
  EXPECT_TRUE(contains(text.output, "e.g. candidate ")) << text.output;
  EXPECT_TRUE(contains(text.output, " of matmul:m=640,n=640,k=640: ")) << text.output;
  EXPECT_TRUE(contains(text.errors, "no candidate ran, not even the default schedule: "))
      << text.errors;
  std::vector<std::string> more = words;
  more.push_back("--json");
  const test::ProcessResult json = tune(more);
  EXPECT_EQ(json.status, 1);
  const Json document = Json::parse(json.output, nullptr, false);
  ASSERT_TRUE(document.is_object()) << json.output;
  const Json& kind = document.at("failures").at("timed_out");
  EXPECT_GE(kind.at("count").get<int>(), 1);
  EXPECT_EQ(kind.at("example").at("task"), "matmul:m=640,n=640,k=640");
  EXPECT_FALSE(kind.at("example").at("reason").get<std::string>().empty());
}

TEST_F(TuneTrouble, ALatencyOutOfReachIsAFailureThatKeepsWhatWasFound) {
  const test::ProcessResult result =
      tune({"matmul:m=24,n=32,k=16", "--trials", "6", "--until-latency", "0.001us"});
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.errors, "1e-06 ms was not reached: the best is ")) << result.errors;
  EXPECT_TRUE(contains(result.errors,
                       "hint: what was found is kept; go on with --resume and a larger budget"))
      << result.errors;
  EXPECT_TRUE(contains(result.output, "matmul:m=24,n=32,k=16")) << result.output;
}

TEST_F(TuneTrouble, AModelWithoutTasksIsCompiledAsItIs) {
  const std::string model = directory_.file("model.onnx");
  test::write_tiny_model(model, "NonZero", {{"x", {"3"}}});
  const std::string artifact = directory_.file("model.attune");
  const test::ProcessResult result =
      tune({model, "--seconds", "2", "-o", artifact, "--log", directory_.file("log.jsonl")});
  EXPECT_EQ(result.status, 0) << result.errors;
  EXPECT_TRUE(contains(result.errors, "the model has no task to tune; it is compiled as it is"))
      << result.errors;
  EXPECT_TRUE(std::filesystem::exists(artifact));
}

}  // namespace
}  // namespace attune
