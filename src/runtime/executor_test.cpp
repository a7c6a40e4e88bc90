#include "runtime/executor.h"

#include <gtest/gtest.h>

#include "runtime/sample_model_test.h"
#include "runtime/tensor.h"

namespace attune::runtime {
namespace {

std::shared_ptr<const Model> model_of(const SampleModel& sample) {
  auto artifact = Artifact::from_memory(sample.bytes(), "sample");
  EXPECT_TRUE(artifact.ok()) << artifact.error().message;
  auto model = Model::from(std::move(artifact).value());
  EXPECT_TRUE(model.ok()) << model.error().message;
  return *model;
}

TEST(Executor, RunsKernelsInOrder) {
  ThreadPool pool({.workers = 2});
  auto session = Session::create(model_of(SampleModel()), pool);
  ASSERT_TRUE(session.ok());
  auto x = Tensor::allocate(DType::F32, {1000});
  auto y = Tensor::allocate(DType::F32, {1000});
  for (float& value : x->as<float>()) value = 1.0f;
  const InputView input{x->data(), DType::F32, x->shape()};
  const OutputView output{y->data(), y->bytes()};
  ASSERT_TRUE(session->run({&input, 1}, {&output, 1}).ok());
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(y->as<float>()[static_cast<std::size_t>(i)], 2.0f * (1.0f + static_cast<float>(i)));
  }
  EXPECT_EQ(session->output_shape(0)[0], 1000);
}

}  // namespace
}  // namespace attune::runtime
