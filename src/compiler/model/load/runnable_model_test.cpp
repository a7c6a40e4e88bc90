#include "compiler/model/load/runnable_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/execution/affinity.h"

namespace attune::model {
namespace {

// As when cores are taken away while a model compiles.
TEST(ModelSession, MoreThreadsThanCoresAreAnError) {
  const std::size_t cores = runtime::allowed_cores().size();
  RunnableModel model;
  model.threads = static_cast<int>(cores) + 1;
  const auto session = ModelSession::create(model, true);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().message,
            fmt::format("{} threads are asked for, but this process may use {} {}", cores + 1,
                        cores, cores == 1 ? "core" : "cores"));
  EXPECT_EQ(session.error().hint, fmt::format("choose --threads {} or fewer", cores));
}

}  // namespace
}  // namespace attune::model
