#include "base/isolated.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "base/answer_reader.h"
#include "base/cage/host_calls.h"
#include "base/clock.h"

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
  AnswerReader reader(*bytes);
  EXPECT_EQ(reader.value<int>(), 42);
  EXPECT_EQ(reader.value<double>(), 2.5);
  EXPECT_EQ(reader.rest().size(), 1'000'000u);
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
    EXPECT_EQ(AnswerReader(*answer).value<std::size_t>(), i);
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
  all.limits.seconds = 3;
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

TEST(Isolated, TimeAndMemoryHaveLimits) {
  const Result<Bytes> late = run_isolated("the work",
                                          []() -> Result<Bytes> {
                                            for (;;) ::pause();
                                          },
                                          {.seconds = 0.1});
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().message, "the work took more than 0.1 seconds");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // no limits with these
  const Result<Bytes> large = run_isolated(
      "the work", []() -> Result<Bytes> { return Bytes(::malloc(64 << 20) == nullptr ? 1 : 2); },
      {.memory_bytes = 32 << 20});
  ASSERT_TRUE(large.ok());
  EXPECT_EQ(large->size(), 1u);
#endif
}

// As drivers of devices do, which use little of what they reserve.
TEST(Isolated, AddressesNeedNotBeLimited) {
  const auto reserve = []() -> Result<Bytes> {
    constexpr std::size_t kMuch = std::size_t{1} << 43;
    void* const address =
        ::mmap(nullptr, kMuch, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return Bytes(address == MAP_FAILED ? 1 : 2);
  };
  EXPECT_EQ(run_isolated("the work", reserve, {.limits_addresses = false})->size(), 2u);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // no limits with these
  EXPECT_EQ(run_isolated("the work", reserve)->size(), 1u);
#endif
}

TEST(Isolated, AnAnswerHasALimitAndAForm) {
  const Result<Bytes> large = run_isolated(
      "the work", []() -> Result<Bytes> { return Bytes(1 << 20); }, {.answer_bytes = 1000});
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().message, "the work answered with more than 1000 bytes");
  // As much as it likes, of which the process that asks keeps little.
  const Result<Bytes> endless = run_isolated("the work", []() -> Result<Bytes> {
    const std::string piece(1 << 20, 'v');
    for (int written = 0; written < 1024; ++written) {
      for (int i = 3; i < 64; ++i) (void)!::write(i, piece.data(), piece.size());
    }
    ::_exit(0);
  });
  ASSERT_FALSE(endless.ok());
  EXPECT_EQ(endless.error().message, "the work answered with more than 67108864 bytes");
  EXPECT_EQ(endless.error().hint, "");
  // What foreign code might write there: the pipe is the only descriptor behind standard error.
  for (const std::string said : {"e", "e0", "e9text", "exmessage", "zzz"}) {
    const Result<Bytes> senseless = run_isolated("the work", [&]() -> Result<Bytes> {
      for (int i = 3; i < 64; ++i) (void)!::write(i, said.data(), said.size());
      ::_exit(0);
    });
    ASSERT_FALSE(senseless.ok());
    EXPECT_EQ(senseless.error().message, "the work gave an answer that makes no sense") << said;
  }
}

TEST(Isolated, HoldsNothingOpenOfItsParent) {
  const int open_here = ::dup(STDIN_FILENO);
  ASSERT_GE(open_here, 0);
  const Result<Bytes> bytes = run_isolated("the work", [&]() -> Result<Bytes> {
    return Bytes(::fcntl(open_here, F_GETFD) < 0 ? 1 : 2);
  });
  ::close(open_here);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->size(), 1u);
}

TEST(Isolated, WhatItStartedEndsWithIt) {
  const Result<Bytes> bytes = run_isolated("the work", []() -> Result<Bytes> {
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) ::pause();
    }
    Bytes answer;
    append_value(answer, child);
    return answer;
  });
  ASSERT_TRUE(bytes.ok());
  const std::string facts =
      "/proc/" + std::to_string(AnswerReader(*bytes).value<pid_t>()) + "/stat";
  // Whoever inherits it may take a while to notice that it has ended.
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  bool ended = false;
  while (!ended && seconds_between(start, clock.now_ns()) < 60) {
    std::ifstream file(facts);
    std::string number, name, state;
    ended = !(file >> number >> name >> state) || state == "Z" || state == "X";
  }
  EXPECT_TRUE(ended);
}

TEST(Isolated, ACallThatTheCageForbidsIsNamed) {
  if (!can_filter_calls()) GTEST_SKIP() << "system calls cannot be filtered here";
  const Result<Bytes> caged = run_isolated("the work", []() -> Result<Bytes> {
    ATTUNE_RETURN_IF_ERROR(enter_cage({.calls = kHostCalls}, {}));
    return Bytes(::open("/dev/null", O_RDONLY) < 0 ? 1 : 2);
  });
  ASSERT_FALSE(caged.ok());
  EXPECT_EQ(caged.error().message, "the work crashed: called openat, which kernels may not");
}

TEST(Isolated, ThreadsMayGiveMemoryBackInTheCage) {
  const Result<Bytes> caged = run_isolated("the work", []() -> Result<Bytes> {
    std::atomic<bool> filled = false, is_caged = false;
    std::thread other([&] {
      std::vector<std::unique_ptr<std::byte[]>> blocks;
      for (int i = 0; i < 500; ++i) blocks.push_back(std::make_unique<std::byte[]>(64 << 10));
      filled = true;
      while (!is_caged) {
      }
      blocks.clear();
    });
    while (!filled) {
    }
    const Status entered = enter_cage({.calls = kHostCalls}, {});
    is_caged = true;
    other.join();
    ATTUNE_RETURN_IF_ERROR(entered);
    return Bytes(1);
  });
  EXPECT_TRUE(caged.ok()) << caged.error().message;
}

TEST(Isolated, LastWordsAreFew) {
  const Result<Bytes> loud = run_isolated("the work", []() -> Result<Bytes> {
    ATTUNE_RETURN_IF_ERROR(enter_cage({.calls = kHostCalls}, {}));
    std::int64_t written = 0;
    for (int i = 0; i < 1000; ++i) {
      written += std::max<ssize_t>(::write(STDERR_FILENO, std::string(4096, 'x').data(), 4096), 0);
    }
    Bytes answer;
    append_value(answer, written);
    return answer;
  });
  ASSERT_TRUE(loud.ok());
  EXPECT_EQ(AnswerReader(*loud).value<std::int64_t>(), 64 * 1024);
}

}  // namespace
}  // namespace attune
