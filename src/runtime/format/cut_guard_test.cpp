#include "runtime/format/cut_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/temporary_directory_testing.h"

namespace attune::runtime {
namespace {

// Two pages of a file of its own, full of ones.
class Mapped {
 public:
  Mapped() {
    const std::string path = directory_.write("bytes", std::string(bytes_, '\1'));
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    place_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    ::close(descriptor);
  }
  ~Mapped() { ::munmap(place_, bytes_); }

  void cut() const { std::filesystem::resize_file(directory_.file("bytes"), 0); }
  int read(std::size_t at) const { return static_cast<const volatile char*>(place_)[at]; }
  void* place() const { return place_; }
  std::size_t bytes() const { return bytes_; }

 private:
  test::TemporaryDirectory directory_;
  std::size_t bytes_ = 2 * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* place_ = nullptr;
};

TEST(CutGuard, GivesZerosForWhatWasCutOff) {
  const Mapped file, other;
  CutGuard guard, other_guard;
  ASSERT_TRUE(guard.watch(file.place(), file.bytes()));
  ASSERT_TRUE(other_guard.watch(other.place(), other.bytes()));
  EXPECT_EQ(file.read(0), 1);
  file.cut();
  EXPECT_FALSE(guard.was_cut());
  EXPECT_EQ(file.read(file.bytes() - 1), 0);
  EXPECT_EQ(file.read(0), 0);
  EXPECT_TRUE(guard.was_cut());
  EXPECT_FALSE(other_guard.was_cut());
  EXPECT_EQ(other.read(0), 1);
  const CutGuard moved = std::move(guard);
  EXPECT_TRUE(moved.was_cut());
  EXPECT_FALSE(guard.was_cut());
}

TEST(CutGuard, LeavesOtherMemoryAsItWas) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Mapped watched;
  CutGuard guard;
  ASSERT_TRUE(guard.watch(watched.place(), watched.bytes()));
  const auto touch_another = [] {
    const Mapped file;
    file.cut();
    ::_exit(file.read(0));
  };
  if (!ATTUNE_RELEASE_BUILD) GTEST_SKIP() << "sanitizers have handlers of their own";
  EXPECT_EXIT(touch_another(), ::testing::KilledBySignal(SIGBUS), "");
}

void leave(int) { ::_exit(7); }

TEST(CutGuard, HandsOtherSignalsOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto with_handler = [] {
    ::signal(SIGBUS, leave);
    const Mapped file, watched;
    CutGuard guard;
    guard.watch(watched.place(), watched.bytes());
    file.cut();
    ::_exit(file.read(0));
  };
  EXPECT_EXIT(with_handler(), ::testing::ExitedWithCode(7), "");
}

TEST(CutGuard, WatchesNoMoreThanItCan) {
  const Mapped file;
  std::vector<CutGuard> guards(513);
  std::size_t watching = 0;
  for (CutGuard& guard : guards) watching += guard.watch(file.place(), file.bytes()) ? 1 : 0;
  EXPECT_GT(watching, 500u);
  EXPECT_LT(watching, guards.size());
  guards.clear();
  CutGuard again;
  EXPECT_TRUE(again.watch(file.place(), file.bytes()));
}

}  // namespace
}  // namespace attune::runtime
