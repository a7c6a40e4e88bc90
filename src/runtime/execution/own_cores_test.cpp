#include "runtime/execution/own_cores.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/temporary_directory_testing.h"

namespace attune::runtime {
namespace {

using Cores = std::vector<int>;

// A tree that looks like a system's, as far as it is looked at.
class OwnCores : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const std::string path = root() + "/sys/devices/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text << '\n';
  }
  void siblings(int processor, const std::string& list,
                const std::string& file = "core_cpus_list") const {
    write("system/cpu/cpu" + std::to_string(processor) + "/topology/" + file, list);
  }
  void capacity(int processor, int value) const {
    write("system/cpu/cpu" + std::to_string(processor) + "/cpu_capacity", std::to_string(value));
  }
  std::string root() const { return folder_.path().string(); }
  static Cores processors(int count) {
    Cores all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  Cores own(const Cores& of) const { return own_cores(of, root()); }

 private:
  test::TemporaryDirectory folder_;
};

TEST_F(OwnCores, AreAllWhereNothingSaysOtherwise) {
  EXPECT_EQ(own({0, 1, 5}), (Cores{0, 1, 5}));
  for (const char* nonsense : {"", "x", "0-", "-3", "0-99999999", "1,,2"}) {
    siblings(0, nonsense);
    capacity(0, -5);
    EXPECT_EQ(own({0, 1, 5}).front(), 0) << nonsense;
  }
}

TEST_F(OwnCores, AreOneOfThoseThatShareOne) {
  for (int i = 0; i < 8; ++i) siblings(i, std::to_string(i % 4) + "," + std::to_string(i % 4 + 4));
  EXPECT_EQ(own(processors(8)), (Cores{0, 1, 2, 3}));
  EXPECT_EQ(own_cores_first({1, 2, 5, 6, 7}, root()), (Cores{1, 2, 7, 5, 6}));
  EXPECT_EQ(own({4}), Cores{4});
}

TEST_F(OwnCores, AreFoundByOlderSystemsWordsToo) {
  for (int i = 0; i < 4; ++i) siblings(i, i < 2 ? "0-1" : "2-3", "thread_siblings_list");
  EXPECT_EQ(own(processors(4)), (Cores{0, 2}));
}

TEST_F(OwnCores, LeaveOutEfficientOnes) {
  for (int i = 0; i < 4; ++i) siblings(i, i < 2 ? "0-1" : "2-3");
  write("cpu_atom/cpus", "4-7");
  EXPECT_EQ(own(processors(8)), (Cores{0, 2}));
  EXPECT_EQ(own_cores_first(processors(8), root()), (Cores{0, 2, 1, 3, 4, 5, 6, 7}));
  EXPECT_EQ(own({4, 5}), (Cores{4, 5}));  // among themselves they are no slower
}

TEST_F(OwnCores, LeaveOutSmallOnesButNotSlightlySlowerOnes) {
  const int capacities[] = {310, 310, 310, 310, 800, 800, 800, 1024};
  for (int i = 0; i < 8; ++i) capacity(i, capacities[i]);
  EXPECT_EQ(own(processors(8)), (Cores{4, 5, 6, 7}));
  EXPECT_EQ(own({0, 1}), (Cores{0, 1}));
}

}  // namespace
}  // namespace attune::runtime
