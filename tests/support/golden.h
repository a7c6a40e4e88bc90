// Golden files: what a stage of the compiler printed when somebody last looked at it and found it
// right. A test compares with the file; `./test golden --update` (ATTUNE_UPDATE_GOLDEN=1) writes
// what the tests see now, for `git diff` to show.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace attune::test {

// tests/golden of the checkout that the tests were built from.
std::filesystem::path golden_directory();

// Compares `actual` with tests/golden/NAME: EXPECT_TRUE(matches_golden("matmul/loops.txt", text)).
// A difference is told by the first line that differs.
::testing::AssertionResult matches_golden(std::string_view name, std::string_view actual);

// The same with the directory and whether to write as parameters.
::testing::AssertionResult compare_golden(const std::filesystem::path& file,
                                          std::string_view actual, bool update);

}  // namespace attune::test
