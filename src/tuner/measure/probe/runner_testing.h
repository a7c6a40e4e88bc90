// A runner with kernels that behave and kernels that do not, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/built_path_testing.h"
#include "base/cage/host_calls.h"
#include "runtime/memory/fill.h"
#include "tuner/measure/probe/runner.h"

namespace attune::probe {

using outcome::Outcome;
using outcome::Phase;
using outcome::Timing;
using runtime::DType;

inline constexpr std::int64_t kElements = 1024;
inline constexpr CageRules kTestCage{.calls = kHostCalls};

// Of a process, by its first thread.
inline std::vector<pid_t> children_of(pid_t parent) {
  const std::string process = "/proc/" + std::to_string(parent);
  std::ifstream file(process + "/task/" + std::to_string(parent) + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

// What a process has computed so far, in ticks of the system's clock.
inline long ticks_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);  // nothing when it has ended meanwhile
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string field;
  long user = 0;
  long system = 0;
  for (int i = 0; i < 11; ++i) fields >> field;
  fields >> user >> system;
  return user + system;
}

struct ProbeProcesses {
  pid_t server = -1;
  pid_t worker = -1;
};

// Those of a runner that `asker` has started, once a kernel that never ends keeps them busy.
inline ProbeProcesses await_busy_probe(pid_t asker) {
  constexpr long kBusyTicks = 20;
  std::map<pid_t, long> before;
  for (;;) {
    for (const pid_t server : children_of(asker)) {
      for (const pid_t worker : children_of(server)) {
        const long ticks = ticks_of(worker);
        if (ticks - before.emplace(worker, ticks).first->second >= kBusyTicks) {
          return {server, worker};
        }
      }
    }
    std::this_thread::yield();
  }
}

inline Bytes object(const std::string& name) {
  std::ifstream file(built_path(ATTUNE_TEST_KERNELS) + "/" + name + ".so", std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  auto bytes = std::make_shared<std::vector<std::byte>>(chars.size());
  std::memcpy(bytes->data(), chars.data(), chars.size());
  return bytes;
}

// What `add` must give at all elements.
inline std::vector<Sample> sums_of(std::uint64_t seed) {
  std::vector<float> a(kElements);
  std::vector<float> b(kElements);
  runtime::fill(a.data(), DType::F32, kElements, seed, 0);
  runtime::fill(b.data(), DType::F32, kElements, seed, 1);
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < a.size(); ++i) {
    samples.push_back(
        {2, static_cast<std::int64_t>(i), static_cast<double>(a[i]) + static_cast<double>(b[i])});
  }
  return samples;
}

inline Verification sums(std::uint64_t seed) {
  return {.samples = sums_of(seed),
          .absolute_tolerance = 1e-6,
          .fresh_seed = seed + 1000,
          .fresh = sums_of(seed + 1000)};
}

class RunnerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto started = Runner::start({.device = runtime::devices().front(), .cage = &kTestCage});
    ASSERT_TRUE(started.ok()) << started.error().message;
    runner_ = new Runner(std::move(started).value());
    good_ = object("good");
    bad_ = object("bad");
  }
  static void TearDownTestSuite() {
    delete runner_;
    runner_ = nullptr;
    good_.reset();
    bad_.reset();
  }

  static Candidate candidate(const Bytes& code, const std::string& symbol) {
    return {.object = code,
            .symbol = symbol,
            .buffers = {{.elements = kElements},
                        {.elements = kElements},
                        {.elements = kElements, .role = Role::Output}},
            .seed = 1};
  }
  static Candidate good(const std::string& symbol) { return candidate(good_, symbol); }
  static Candidate bad(const std::string& symbol) { return candidate(bad_, symbol); }
  static Candidate checked() {
    Candidate add = good("add");
    add.verification = sums(1);
    return add;
  }

  static MeasureOptions quick() {
    return {.repeat_us = 200.0,
            .budget_us = 500.0,
            .timeout_ms = 20'000.0,
            .remeasure_on_drift = false};
  }
  // The outcome of one candidate, measured between two good ones that must not suffer.
  static Outcome outcome_of(const Candidate& one, const MeasureOptions& options = quick()) {
    const std::vector<Candidate> batch = {checked(), one, checked()};
    auto measured = runner_->measure(batch, options);
    EXPECT_TRUE(measured.ok());
    EXPECT_EQ(measured->candidates.size(), 3u);
    for (std::size_t i : {0u, 2u}) {
      EXPECT_EQ(kind_of(measured->candidates[i].outcome), "timing")
          << describe(measured->candidates[i].outcome);
    }
    return measured->candidates[1].outcome;
  }
  static std::string told(const Candidate& one) { return describe(outcome_of(one)); }

  static inline Runner* runner_ = nullptr;
  static inline Bytes good_, bad_;
};

}  // namespace attune::probe
