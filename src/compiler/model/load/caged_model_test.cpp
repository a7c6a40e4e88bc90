#include "compiler/model/load/caged_model.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "base/answer_reader.h"
#include "base/cage/call_filter.h"
#include "base/isolated.h"
#include "compiler/model/load/input_files.h"

namespace attune::model {
namespace {

Result<RunnableModel> product(const std::string& target) {
  SourceOptions options;
  options.model.model = "matmul:m=8,n=8,k=8";
  options.model.target = target;
  options.schedule.use_default = true;
  return load_runnable(options);
}

class CagedModelTest : public ::testing::TestWithParam<const char*> {};

// What foreign code in it does: everything that the test says, after a run that must work.
Result<Bytes> run_caged(const RunnableModel& model, const std::function<int()>& harm) {
  return run_isolated("the model", [&]() -> Result<Bytes> {
    ATTUNE_ASSIGN(const auto inputs, inputs_for(model.plan(), {}, 1));
    ATTUNE_ASSIGN(ModelSession session, ModelSession::create(model, true));
    ATTUNE_RETURN_IF_ERROR(enter_cage(model));
    ATTUNE_RETURN_IF_ERROR(session.run(inputs));
    Bytes bytes;
    append_value(bytes, harm());
    return bytes;
  });
}

TEST_P(CagedModelTest, RunsAndMayDoNothingElse) {
  const auto model = product(GetParam());
  ASSERT_TRUE(model.ok()) << model.error().message;
  const Result<Bytes> fine = run_caged(*model, [] { return 42; });
  ASSERT_TRUE(fine.ok()) << fine.error().message;
  EXPECT_EQ(AnswerReader(*fine).value<int>(), 42);
  if (!can_filter_calls()) GTEST_SKIP() << "system calls cannot be filtered here";
  const Result<Bytes> opened = run_caged(*model, [] { return ::open("/dev/null", O_RDONLY); });
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().message, "the model crashed: called openat, which kernels may not");
  EXPECT_FALSE(run_caged(*model, [] { return static_cast<int>(::fork()); }).ok());
}

TEST(CagedModel, AnswersWithItsOutputsAndLittleMore) {
  const auto model = product("cpu");
  ASSERT_TRUE(model.ok()) << model.error().message;
  const std::size_t usual = IsolationLimits().answer_bytes;
  EXPECT_EQ(limits_for(*model).answer_bytes, usual);
  EXPECT_EQ(limits_with_outputs(*model, 1).answer_bytes, usual + 8 * 8 * sizeof(float));
  const Result<Bytes> much = run_caged(*model, [] {
    const std::string piece(1 << 20, 'v');
    for (int written = 0; written < 1024; ++written) {
      for (int i = 3; i < 64; ++i) (void)!::write(i, piece.data(), piece.size());
    }
    return 42;
  });
  ASSERT_FALSE(much.ok());
  EXPECT_EQ(much.error().message, "the model answered with more than 67108864 bytes");
}

// Code of this processor that would have the calls of another target's driver.
TEST(CagedModel, HasTheCageOfItsDevice) {
  const auto model = product("cpu");
  ASSERT_TRUE(model.ok()) << model.error().message;
  const runtime::Artifact& sound = model->model->artifact();
  runtime::Plan plan = sound.plan();
  plan.target = "cuda -arch=sm_90a";
  const auto bytes =
      runtime::artifact_bytes({.plan = plan,
                               .weights = {{0, sound.weights()}},
                               .objects = {sound.objects().begin(), sound.objects().end()}});
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().message, "the plan is invalid: its target is 'cuda', its device 'cpu'");
  EXPECT_EQ(bytes.error().hint, "compile the model again");
}

INSTANTIATE_TEST_SUITE_P(Targets, CagedModelTest, ::testing::Values("cpu", "sim"));

}  // namespace
}  // namespace attune::model
