#include "tests/support/process.h"

#include <gtest/gtest.h>

namespace attune::test {
namespace {

TEST(Process, KeepsStatusAndBothStreamsApart) {
  const ProcessResult result = run_process({"sh", "-c", "echo one; echo two >&2; exit 3"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.output, "one\n");
  EXPECT_EQ(result.errors, "two\n");
}

TEST(Process, PassesArgumentsAndEnvironmentOn) {
  const ProcessResult result =
      run_process({"sh", "-c", "echo \"$ATTUNE_X|$1\"", "sh", "a b"}, {{"ATTUNE_X", "y z"}});
  EXPECT_EQ(result.output, "y z|a b\n");
}

TEST(Process, TellsSignalsAsAShellDoes) {
  EXPECT_EQ(run_process({"sh", "-c", "kill -9 $$"}).status, 128 + 9);
}

}  // namespace
}  // namespace attune::test
