#include "tests/support/golden.h"

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/built_path_testing.h"

namespace attune::test {
namespace {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

std::optional<std::string> read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

AssertionResult write_file(const std::filesystem::path& file, std::string_view text) {
  std::error_code ignored;  // the stream below tells whether it worked
  std::filesystem::create_directories(file.parent_path(), ignored);
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) return AssertionFailure() << "cannot write " << file;
  return AssertionSuccess() << "wrote " << file;
}

// The next line of `text`, removed from it; "(end)" once nothing is left.
std::string_view take_line(std::string_view& text) {
  if (text.empty()) return "(end)";
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

AssertionResult first_difference(const std::filesystem::path& file, std::string_view expected,
                                 std::string_view actual) {
  for (int number = 1;; ++number) {
    if (expected.empty() && actual.empty()) {
      return AssertionFailure() << file << " differs in its final newline";
    }
    const std::string_view want = take_line(expected);
    const std::string_view got = take_line(actual);
    if (want != got) {
      return AssertionFailure() << file << " differs in line " << number << "\n  file: " << want
                                << "\n   now: " << got
                                << "\nif it is right now, run ./test golden --update";
    }
  }
}

}  // namespace

AssertionResult compare_golden(const std::filesystem::path& file, std::string_view actual,
                               bool update) {
  const std::optional<std::string> expected = read_file(file);
  if (expected && *expected == actual) return AssertionSuccess();
  if (update) return write_file(file, actual);
  if (!expected) {
    return AssertionFailure() << file << " does not exist; run ./test golden --update to write it";
  }
  return first_difference(file, *expected, actual);
}

std::filesystem::path golden_directory() { return checkout_path("tests/golden"); }

AssertionResult matches_golden(std::string_view name, std::string_view actual) {
  const char* update = std::getenv("ATTUNE_UPDATE_GOLDEN");
  return compare_golden(golden_directory() / name, actual,
                        update != nullptr && std::string_view(update) == "1");
}

}  // namespace attune::test
