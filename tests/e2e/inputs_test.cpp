// Inputs from files where a model is timed: they decide which branch it takes.
#include <gtest/gtest.h>

#include "tensor_files/npy.h"
#include "tests/support/own_commands.h"
#include "tests/support/tiny_onnx.h"

namespace attune {
namespace {

using Json = nlohmann::json;

class Inputs : public test::OwnCommands {
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
  Json json_with(std::vector<std::string> words, std::int64_t n) const {
    words.insert(words.end(), {"--input", "n=" + file_of(n), "--threads", "1"});
    return json_of(std::move(words));
  }

  const std::string model_;
};

TEST_F(Inputs, BenchTimesTheBranchThatTheyTake) {
  for (const std::int64_t n : {0, 1}) {
    const Json layers = json_with({"bench", model_, "--layers", "--repeats", "3"}, n).at("layers");
    double mflop = 0;
    for (const Json& layer : layers) {
      mflop += layer.at("gflops").get<double>() * layer.at("ms").get<double>();
    }
    EXPECT_EQ(mflop > 10, n == 1) << layers.dump(2);
  }
}

TEST_F(Inputs, TuneRacesTheBranchThatTheyTake) {
  const auto tuned_ms = [&](std::int64_t n) {
    return json_with({"tune", model_, "--trials", "1", "-o", directory_.file("b.attune")}, n)
        .at("default_latency_ms")
        .get<double>();
  };
  EXPECT_GT(tuned_ms(1), 3 * tuned_ms(0));
}

}  // namespace
}  // namespace attune
