// What the loader says of models, by which all others go.
#include <gtest/gtest.h>

#include "compiler/model/load/machine_limits.h"
#include "compiler/model/load/model.h"

namespace attune::model {
namespace {

LoadedModel loaded(const std::string& model) {
  return load_model({.model = model, .threads = 1}).value();
}

TEST(ModelFacts, OfASpecTimeItsOperatorAndNothingElse) {
  const LoadedModel model = loaded("dense:m=8,n=32,k=16");
  EXPECT_FALSE(model.facts.contest);
  EXPECT_EQ(model.facts.budget.trials, kUsualTrials);
  EXPECT_FALSE(model.facts.budget.seconds);
  EXPECT_EQ(model.facts.form, OutputForm::Object);
  EXPECT_TRUE(model.facts.one_task);
  EXPECT_TRUE(model.facts.times_kernels);
  EXPECT_TRUE(model.facts.takes_operands);
  ASSERT_EQ(model.task_facts.size(), 1U);
  EXPECT_EQ(model.task_facts.front().name, "dense:m=8,n=32,k=16");
  EXPECT_DOUBLE_EQ(model.run_bytes, 4 * (8 * 16 + 16 * 32 + 8 * 32));
  EXPECT_GT(model.tune_bytes, model.run_bytes);
}

TEST(ModelFacts, OfAModelRunAndRaceTheWhole) {
  const LoadedModel model = loaded("mlp");
  EXPECT_TRUE(model.facts.contest);
  EXPECT_FALSE(model.facts.budget.trials);
  EXPECT_EQ(model.facts.budget.seconds, kUsualSeconds);
  EXPECT_EQ(model.facts.form, OutputForm::Artifact);
  EXPECT_FALSE(model.facts.one_task);
  EXPECT_TRUE(model.facts.takes_shapes);
  EXPECT_TRUE(model.task_facts.empty());
  EXPECT_TRUE(model.disabled_passes.empty());
}

// Those that the user leaves out are left out besides; one that there is not is named to him.
TEST(ModelFacts, PassesAreLeftOutTogether) {
  const ModelOptions options{
      .model = "softmax:m=4,n=4", .threads = 1, .disabled_passes = {"fold_nothing"}};
  LoadedModel model = load_model(options).value();
  const CompileOptions compile = compile_options(model, options);
  EXPECT_EQ(compile.disabled_passes.size(), model.disabled_passes.size() + 1);
  const auto tasks = prepare_tasks(std::move(model.graph), compile);
  ASSERT_FALSE(tasks.ok());
  EXPECT_EQ(tasks.error().message, "there is no graph pass 'fold_nothing'");
}

TEST(ModelFacts, MemoryIsWhatTheLoaderSays) {
  LoadedModel model = loaded("mlp");
  EXPECT_TRUE(check_fits_memory(model, Purpose::Tune).ok());
  model.tune_bytes = 1e18;
  EXPECT_TRUE(check_fits_memory(model, Purpose::Run).ok());
  ASSERT_FALSE(check_fits_memory(model, Purpose::Tune).ok());
  EXPECT_EQ(check_fits_memory(model, Purpose::Tune).error().hint, "choose smaller sizes");
}

TEST(ModelFacts, ThreadsMayBeChangedAfterwards) {
  const ModelOptions options{.model = "dense:m=8,n=32,k=16", .threads = 1};
  const LoadedModel two = with_threads(load_model(options).value(), options, 2).value();
  EXPECT_EQ(two.target_text(), load_model({.model = options.model, .threads = 2})->target_text());
}

}  // namespace
}  // namespace attune::model
