#include "base/isolated.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace attune {
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

TEST(Isolated, ManyAnswerInOrder) {
  std::vector<std::string> told;
  IsolatedWork all;
  all.count = 20;
  all.at_once = 4;
  all.work = [](std::size_t i) -> Result<Bytes> {
    Bytes bytes;
    append_value(bytes, i);
    return bytes;
  };
  all.done = [&](std::size_t i, const Result<Bytes>& answer) -> Status {
    EXPECT_TRUE(answer.ok());
    std::span<const char> bytes = *answer;
    EXPECT_EQ(take_value<std::size_t>(bytes), i);
    told.push_back(std::to_string(i));
    return {};
  };
  ASSERT_TRUE(run_isolated(all).ok());
  ASSERT_EQ(told.size(), 20u);
  EXPECT_EQ(told.front(), "0");
  EXPECT_EQ(told.back(), "19");
}

TEST(Isolated, CrashesAndHangsOfSomeLeaveTheOthersAlone) {
  std::vector<std::string> told;
  IsolatedWork all;
  all.count = 4;
  all.at_once = 2;
  all.timeout_seconds = 3;
  all.work = [](std::size_t i) -> Result<Bytes> {
    if (i == 1) {
      (void)!::write(STDERR_FILENO, "first\nlast words\n", 17);
      ::kill(::getpid(), SIGKILL);
    }
    while (i == 2) ::pause();
    if (i == 3) return unsupported("not this one");
    return Bytes(1, 'x');
  };
  all.done = [&](std::size_t, const Result<Bytes>& answer) -> Status {
    told.push_back(answer.ok() ? "fine" : answer.error().message);
    return {};
  };
  ASSERT_TRUE(run_isolated(all).ok());
  EXPECT_EQ(told, (std::vector<std::string>{"fine", "it crashed: Killed (signal 9): last words",
                                            "it took more than 3 seconds", "not this one"}));
}

TEST(Isolated, AnErrorOfTheReceiverEndsAll) {
  IsolatedWork all;
  all.count = 3;
  all.at_once = 3;
  all.work = [](std::size_t i) -> Result<Bytes> {
    while (i == 2) ::pause();
    return Bytes(1, 'x');
  };
  all.done = [&](std::size_t, const Result<Bytes>&) -> Status { return invalid("enough"); };
  const Status status = run_isolated(all);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "enough");
}

}  // namespace
}  // namespace attune
