#include <gtest/gtest.h>

#include "base/built_path_testing.h"
#include "base/temporary_directory_testing.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

TEST(BuiltPath, IsThatOfThisProgram) {
  const fs::path program = fs::canonical("/proc/self/exe");
  EXPECT_EQ(built_path("bin/" + program.filename().string()), program.string());
}

TEST(BuiltPath, TheBuildFolderNamesItsCheckout) {
  const test::TemporaryDirectory directory;
  EXPECT_EQ(checkout_of(directory.path()).string(), directory.path().string()) << "a package";
  directory.write("CMakeCache.txt",
                  "CMAKE_BUILD_TYPE:STRING=Release\nCMAKE_HOME_DIRECTORY:INTERNAL=/a/clone\n");
  EXPECT_EQ(checkout_of(directory.path()).string(), "/a/clone");
  EXPECT_TRUE(fs::is_directory(checkout_path("tests")));
}

}  // namespace
}  // namespace attune
