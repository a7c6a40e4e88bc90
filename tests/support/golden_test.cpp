#include "tests/support/golden.h"

#include <fstream>

namespace attune::test {
namespace {

class GoldenTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path directory_ =
      std::filesystem::path(::testing::TempDir()) / "attune_golden_test";
  std::filesystem::path file_ = directory_ / "sub" / "a.txt";
};

TEST_F(GoldenTest, MissingFileFailsAndUpdateWritesIt) {
  EXPECT_FALSE(compare_golden(file_, "one\n", false));
  EXPECT_TRUE(compare_golden(file_, "one\n", true));
  EXPECT_TRUE(compare_golden(file_, "one\n", false));
}

TEST_F(GoldenTest, DifferenceNamesTheLine) {
  ASSERT_TRUE(compare_golden(file_, "one\ntwo\n", true));
  const ::testing::AssertionResult result = compare_golden(file_, "one\nthree\n", false);
  ASSERT_FALSE(result);
  const std::string message = result.message();
  EXPECT_NE(message.find("differs in line 2\n  file: two\n   now: three\n"), std::string::npos)
      << message;
}

TEST_F(GoldenTest, ShorterLongerAndUnfinishedTextsDiffer) {
  ASSERT_TRUE(compare_golden(file_, "one\ntwo\n", true));
  EXPECT_FALSE(compare_golden(file_, "one\n", false));
  EXPECT_FALSE(compare_golden(file_, "one\ntwo\nthree\n", false));
  EXPECT_FALSE(compare_golden(file_, "one\ntwo", false));
}

}  // namespace
}  // namespace attune::test
