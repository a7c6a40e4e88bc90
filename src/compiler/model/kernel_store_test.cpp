// Artifacts of one model share the kernels that they have in common.
#include "compiler/model/kernel_store.h"

#include <gtest/gtest.h>

#include "compiler/graph/builder.h"
#include "compiler/model/compile.h"
#include "targets/kinds.h"

namespace attune::model {
namespace {

class KernelStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    graph::Builder builder("model", {});
    const graph::ValueId x = builder.input("x", {ir::kF32, {8, 32}});
    ir::Array weights(ir::kF32, {32, 48});
    for (std::int64_t i = 0; i < weights.count(); ++i) weights.set_real(i, 0.25);
    const graph::ValueId y = builder.constant(ops::make_constant(std::move(weights)));
    const auto product = builder.add("matmul", {x, y});
    ASSERT_TRUE(product.ok()) << product.error().message;
    target::Target asked;
    asked.threads = 1;
    options_.target = *targets::resolve(asked);
    graph_ = std::move(builder).finish({*product});
    tasks_ = *prepare_tasks(graph_, options_);
    ASSERT_EQ(tasks_.distinct.size(), 1u);
    store_ = std::make_shared<KernelStore>(options_.target);
  }
  const graph::Task& task() const { return tasks_.distinct[0]; }
  Schedule usual() const { return default_schedule(task(), options_.target, {}); }
  SharedKernel kernel(const Schedule& schedule, const std::string& symbol = "kernel") {
    auto found = store_->kernel(task(), schedule, symbol);
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found.ok() ? *found : nullptr;
  }

  CompileOptions options_;
  graph::Graph graph_;
  ModelTasks tasks_;
  std::shared_ptr<KernelStore> store_;
};

TEST_F(KernelStoreTest, TheSameScheduleIsCompiledOnce) {
  EXPECT_EQ(kernel(usual()), kernel(usual()));
}

TEST_F(KernelStoreTest, AnotherScheduleOrNameIsAnotherKernel) {
  const SharedKernel first = kernel(usual());
  const SharedKernel plain = kernel({.origin = Origin::Plain});
  EXPECT_NE(first, plain);
  EXPECT_NE(schedule::hash(first->schedule.trace), schedule::hash(plain->schedule.trace));
  EXPECT_EQ(kernel(usual(), "other")->main.object.entry.symbol, "other");
}

TEST_F(KernelStoreTest, WhereAScheduleComesFromIsToldOfEachKernel) {
  Schedule broken{"direct", *schedule::parse_trace("split output nowhere 4\n"), Origin::Record, {}};
  EXPECT_EQ(kernel(broken)->fallbacks.at(0).wanted, "recorded");
  broken.origin = Origin::Shipped;
  EXPECT_EQ(kernel(broken)->fallbacks.at(0).wanted, "shipped");
}

TEST_F(KernelStoreTest, ModelsMadeWithItAreAsThoseMadeWithoutIt) {
  const auto alone = compile_tasks(tasks_, {usual()}, options_);
  ASSERT_TRUE(alone.ok()) << alone.error().message;
  options_.kernels = store_;
  for (int i = 0; i < 2; ++i) {
    const auto shared = compile_tasks(tasks_, {usual()}, options_);
    ASSERT_TRUE(shared.ok()) << shared.error().message;
    EXPECT_EQ(shared->objects, alone->objects);
    EXPECT_EQ(shared->weights.pieces().size(), alone->weights.pieces().size());
  }
}

}  // namespace
}  // namespace attune::model
