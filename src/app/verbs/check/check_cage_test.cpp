// What `check` runs, it runs in a cage: when the answer is there, the process may do nothing else.
#include <fcntl.h>
#include <gtest/gtest.h>

#include "app/verbs/check/check_model.h"
#include "base/cage/call_filter.h"
#include "base/isolated.h"

namespace attune::verbs {
namespace {

TEST(CheckedModel, RunsInACage) {
  if (!can_filter_calls()) GTEST_SKIP() << "system calls cannot be filtered here";
  model::SourceOptions source;
  source.model.model = "matmul:m=8,n=8,k=8";
  source.schedule.use_default = true;
  const auto check_and_open = [&](bool open) {
    const Result<Bytes> ended = run_isolated("the check", [&]() -> Result<Bytes> {
      ATTUNE_ASSIGN(model::LoadedModel model, model::load_model(source.model));
      ATTUNE_ASSIGN(const CheckCase result, check_model(std::move(model), source, 1));
      if (open) (void)::open("/dev/null", O_RDONLY);
      const std::string_view status = name_of(result.status);
      return Bytes(status.begin(), status.end());
    });
    return ended.ok() ? std::string(ended->begin(), ended->end()) : ended.error().message;
  };
  EXPECT_EQ(check_and_open(false), "pass");
  EXPECT_EQ(check_and_open(true), "the check crashed: called openat, which kernels may not");
}

}  // namespace
}  // namespace attune::verbs
