#include "targets/cuda/tuning/cage.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <functional>

#include "base/isolated.h"

namespace attune::cuda {
namespace {

// Empty: it may do that, and it works.
std::string ending(const std::function<bool()>& work) {
  const Result<Bytes> answer = run_isolated("it", [&]() -> Result<Bytes> {
    ATTUNE_RETURN_IF_ERROR(enter_cage(kCage, {}));
    return Bytes(work() ? 1 : 2);
  });
  if (!answer.ok()) return answer.error().message;
  return answer->size() == 1 ? "" : "it failed";
}

TEST(DriverCage, ChangesItsOwnLimitsAlone) {
  if (!can_filter_calls()) GTEST_SKIP() << "system calls cannot be filtered here";
  rlimit limit = {};
  EXPECT_EQ(ending([&] { return ::getrlimit(RLIMIT_NOFILE, &limit) == 0; }), "");
  EXPECT_EQ(ending([&] { return ::prlimit(0, RLIMIT_STACK, nullptr, &limit) == 0; }), "");
  for (const pid_t other : {1, ::getpid()}) {
    EXPECT_EQ(ending([&] { return ::prlimit(other, RLIMIT_NOFILE, nullptr, &limit) == 0; }),
              "it crashed: called prlimit64, which kernels may not");
  }
}

TEST(DriverCage, OpensFilesAndStartsNoProcess) {
  if (!can_filter_calls()) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_EQ(ending([] { return ::open("/dev/null", O_RDWR) >= 0; }), "");
  EXPECT_NE(ending([] { return ::fork() >= 0; }), "");
}

}  // namespace
}  // namespace attune::cuda
