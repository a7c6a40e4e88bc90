// Inputs from files where a model is timed: they decide which branch it takes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/temporary_directory_testing.h"
#include "tensor_files/npy.h"
#include "tests/support/process.h"
#include "tests/support/tiny_onnx.h"

namespace attune {
namespace {

using Json = nlohmann::json;

class Inputs : public ::testing::Test {
 protected:
  Inputs() : model_(test::write_branching_model(directory_.file("branching.onnx"))) {
    for (const std::int64_t n : {0, 1}) {
      const runtime::Tensor tensor = runtime::Tensor::allocate(runtime::DType::I64, {1}).value();
      tensor.as<std::int64_t>()[0] = n;
      EXPECT_TRUE(tensor_files::write_npy(file_of(n), tensor).ok());
    }
  }

  std::string file_of(std::int64_t n) const {
    return directory_.file("n" + std::to_string(n) + ".npy");
  }
  Json json_of(std::vector<std::string> words, std::int64_t n) const {
    words.insert(words.begin(), test::attune_program());
    words.insert(words.end(), {"--input", "n=" + file_of(n), "--threads", "1", "--json"});
    const test::ProcessResult result =
        test::run_process(words, {{"XDG_DATA_HOME", directory_.file("data")}});
    EXPECT_EQ(result.status, 0) << result.errors;
    return Json::parse(result.output, nullptr, false);
  }

  test::TemporaryDirectory directory_;
  const std::string model_;
};

TEST_F(Inputs, BenchTimesTheBranchThatTheyTake) {
  for (const std::int64_t n : {0, 1}) {
    const Json layers = json_of({"bench", model_, "--layers", "--repeats", "3"}, n).at("layers");
    double mflop = 0;
    for (const Json& layer : layers) {
      mflop += layer.at("gflops").get<double>() * layer.at("ms").get<double>();
    }
    EXPECT_EQ(mflop > 10, n == 1) << layers.dump(2);
  }
}

TEST_F(Inputs, TuneRacesTheBranchThatTheyTake) {
  const auto tuned_ms = [&](std::int64_t n) {
    return json_of({"tune", model_, "--trials", "1", "-o", directory_.file("b.attune")}, n)
        .at("default_latency_ms")
        .get<double>();
  };
  EXPECT_GT(tuned_ms(1), 3 * tuned_ms(0));
}

}  // namespace
}  // namespace attune
