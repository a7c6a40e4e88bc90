#include "app/api/isolated.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace attune::api {
namespace {

TEST(Isolated, HandsBackBytes) {
  const Result<Bytes> bytes = run_isolated("the work", []() -> Result<Bytes> {
    Bytes answer;
    append_value(answer, 42);
    append_value(answer, 2.5);
    answer.resize(answer.size() + 1'000'000, 'x');
    return answer;
  });
  ASSERT_TRUE(bytes.ok());
  std::span<const char> rest = *bytes;
  EXPECT_EQ(take_value<int>(rest), 42);
  EXPECT_EQ(take_value<double>(rest), 2.5);
  EXPECT_EQ(rest.size(), 1'000'000u);
}

TEST(Isolated, HandsBackErrors) {
  const Result<Bytes> bytes = run_isolated("the work", []() -> Result<Bytes> {
    return Error{ErrorCode::Exhausted, "no more of it", "get some"};
  });
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().code, ErrorCode::Exhausted);
  EXPECT_EQ(bytes.error().message, "no more of it");
  EXPECT_EQ(bytes.error().hint, "get some");
}

TEST(Isolated, ACrashIsAnError) {
  const Result<Bytes> killed = run_isolated("the work", []() -> Result<Bytes> {
    ::kill(::getpid(), SIGKILL);
    return Bytes();
  });
  ASSERT_FALSE(killed.ok());
  EXPECT_EQ(killed.error().message, "the work crashed: Killed (signal 9)");
  const Result<Bytes> left = run_isolated("the work", []() -> Result<Bytes> { ::_exit(3); });
  ASSERT_FALSE(left.ok());
  EXPECT_EQ(left.error().message, "the work crashed: exit status 3");
}

}  // namespace
}  // namespace attune::api
