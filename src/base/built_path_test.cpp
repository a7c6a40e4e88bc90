#include <gtest/gtest.h>

#include "base/built_path_testing.h"

namespace attune {
namespace {

TEST(BuiltPath, StaysUnlessItsBeginningMoved) {
  unsetenv("ATTUNE_BUILT_PATHS");
  EXPECT_EQ(built_path("/a/build/bin/x"), "/a/build/bin/x");
  setenv("ATTUNE_BUILT_PATHS", "/a/build:/p:/a:/q", 1);
  EXPECT_EQ(built_path("/a/build/bin/x"), "/p/bin/x");
  EXPECT_EQ(built_path("/a/tests"), "/q/tests");
  EXPECT_EQ(built_path("/a/builder"), "/q/builder");
  EXPECT_EQ(built_path("/b/x"), "/b/x");
  unsetenv("ATTUNE_BUILT_PATHS");
}

}  // namespace
}  // namespace attune
