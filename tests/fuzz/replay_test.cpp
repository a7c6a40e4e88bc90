// Every harness with every file of its corpus: what fuzzers found once stays found.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/built_path_testing.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {
namespace {

struct Harness {
  std::string_view name;
  void (*run)(std::string_view);
};
constexpr Harness kHarnesses[] = {
#define ATTUNE_HARNESS(name, layers, sources) {#name, fuzz_##name},
#include "tests/fuzz/list.inc"
};

class Corpus : public testing::TestWithParam<Harness> {};

TEST_P(Corpus, IsReadWithoutHarm) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(checkout_path("tests/fuzz/corpora")) / GetParam().name;
  if (!fs::exists(folder.parent_path())) GTEST_SKIP() << "the corpora did not come along";
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    SCOPED_TRACE(entry.path().filename());
    GetParam().run(bytes);
    ++files;
  }
  EXPECT_GT(files, 0u) << folder;
}

INSTANTIATE_TEST_SUITE_P(Every, Corpus, testing::ValuesIn(kHarnesses),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace attune::fuzz
