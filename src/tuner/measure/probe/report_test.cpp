#include "tuner/measure/probe/report.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstring>

#include "tuner/measure/probe/deadlines.h"
#include "tuner/measure/probe/judgement.h"
#include "tuner/measure/probe/worker.h"

namespace attune::probe {
namespace {

// Three repeats of 10 calls that took 100 us each.
Report timed() {
  Report report;
  report.state = ReportState::Timed;
  report.busy_us = 3'500;
  report.timing = {.best_us = 100, .median_us = 101, .repeats = 3, .calls_per_repeat = 10};
  return report;
}

TEST(Report, NobodyWroteIsALoss) {
  EXPECT_EQ(describe(Report{}.outcome()),
            "infrastructure lost in load: the measuring process ended before it was run");
}

TEST(Report, WhatMakesSenseIsKept) {
  EXPECT_EQ(std::get<outcome::Timing>(sane(timed()).outcome()), timed().timing);
  Report failed;
  failed.fail(ReportState::Crashed, outcome::Phase::Run, "fell over");
  EXPECT_EQ(describe(sane(failed).outcome()), "crashed in run: fell over");
}

TEST(Report, WhatMakesNoSenseIsACrash) {
  const std::string expected = "crashed in run: left a report that makes no sense";
  const auto told = [](Report report) { return describe(sane(report).outcome()); };
  Report bad = timed();
  bad.timing.best_us = NAN;
  EXPECT_EQ(told(bad), expected);
  bad = timed();
  bad.timing.best_us = -1;
  EXPECT_EQ(told(bad), expected);
  bad = timed();
  bad.timing.best_us = 200;  // more than the median
  EXPECT_EQ(told(bad), expected);
  bad = timed();
  bad.timing.repeats = 0;
  EXPECT_EQ(told(bad), expected);
  std::memset(static_cast<void*>(&bad), 0xee, sizeof bad);
  EXPECT_EQ(told(bad), expected);
}

TEST(Report, WordsAreMadePrintable) {
  Report report;
  report.fail(ReportState::Crashed, outcome::Phase::Run, "\x1b[2Jgone\n");
  EXPECT_EQ(describe(sane(report).outcome()), "crashed in run: ?[2Jgone?");
  std::memset(report.reason, 'x', sizeof report.reason);
  EXPECT_EQ(std::strlen(sane(report).reason), sizeof report.reason - 1);
}

TEST(Report, ClaimsOfTheVerifierAreNotTheWorkers) {
  Report report = timed();
  report.timing.verified = true;
  report.timing.max_error = 5;
  EXPECT_FALSE(sane(report).timing.verified);
  EXPECT_EQ(sane(report).timing.max_error, 0);
}

TEST(Report, ATimingMustFitTheTimeThatPassed) {
  EXPECT_EQ(implausible(timed(), {4'000, 3'600}), "");
  EXPECT_EQ(implausible(timed(), {4'000, 10}), "");  // the word came late
  EXPECT_EQ(implausible(timed(), {3'000, 2'900}), "reports calls of 3500 us within 3000 us");
  Report forged = timed();
  forged.timing.best_us = 1000;
  EXPECT_EQ(implausible(forged, {4'000, 3'600}),
            "reports calls of 3500 us, but repeats that took 30000 us");
  EXPECT_EQ(implausible(timed(), {600'000, 500'000}),
            "reports calls of 3500 us, but ran for 500000 us");
  forged = timed();
  forged.busy_us = NAN;
  EXPECT_NE(implausible(forged, {4'000, 3'600}), "");
}

TEST(Deadlines, GoByThePhase) {
  const RequestHeader request{.options = {.timeout_ms = 50}};
  const Deadlines deadlines(request, MessageKind::Measure, 1'000'000'000);
  Progress progress;
  progress.since_ns = 1'000'000'000;
  EXPECT_DOUBLE_EQ(deadlines.remaining_ms(1'010'000'000, progress), kSetUpLimitMs - 10);
  progress.phase = outcome::Phase::Run;
  EXPECT_DOUBLE_EQ(deadlines.remaining_ms(1'010'000'000, progress), 40);
}

// Others had the core for the rest.
TEST(Deadlines, TimeWithoutTheProcessorIsNotRun) {
  Deadlines deadlines({}, MessageKind::Measure, 0);
  EXPECT_EQ(deadlines.running_us(70'000'000, 5'000'000), 0);
  deadlines.note_running(1'000'000, 4'000'000);
  EXPECT_DOUBLE_EQ(deadlines.running_us(71'000'000, 5'000'000), 1'000);
  EXPECT_DOUBLE_EQ(deadlines.running_us(3'000'000, 12'000'000), 2'000);  // of several threads
  EXPECT_DOUBLE_EQ(deadlines.running_us(71'000'000, std::nullopt), 70'000);
  deadlines.note_running(1'000'000, std::nullopt);
  EXPECT_DOUBLE_EQ(deadlines.running_us(71'000'000, 5'000'000), 70'000);
}

TEST(Deadlines, AForgedClockCannotMoveThemForEver) {
  const RequestHeader request{.options = {.timeout_ms = 50}};
  const Deadlines deadlines(request, MessageKind::Measure, 0);
  Progress progress;
  progress.phase = outcome::Phase::Run;
  progress.since_ns = std::int64_t{1} << 62;
  EXPECT_DOUBLE_EQ(deadlines.remaining_ms(10'000'000, progress), 50);
  EXPECT_LE(deadlines.remaining_ms(70'000'000'000, progress), 0);
  progress.since_ns = -(std::int64_t{1} << 62);
  EXPECT_LE(deadlines.remaining_ms(60'000'000, progress), 0);
  new (&progress.phase) std::atomic<outcome::Phase>(static_cast<outcome::Phase>(77));
  EXPECT_EQ(phase_of(progress), outcome::Phase::Run);
}

// By the exit status of a worker.
std::string told_of_exit(int status, bool ran) {
  Report verdict;
  blame_exit(verdict, W_EXITCODE(status, 0), ran, Progress(), {});
  return describe(verdict.outcome());
}

// Cores that were taken away, say, are nothing that a candidate did.
TEST(Judgement, AWorkerThatCannotBeginIsALoss) {
  EXPECT_EQ(told_of_exit(kNoCoreExitStatus, false),
            "infrastructure lost in load: the measuring process may not run on its core any more");
  EXPECT_EQ(told_of_exit(kNoDeviceExitStatus, false),
            "infrastructure lost in load: the measuring process cannot open its device");
  EXPECT_EQ(told_of_exit(kNoCageExitStatus, false),
            "infrastructure lost in load: the measuring process cannot be caged");
  EXPECT_EQ(told_of_exit(0, false), "crashed in load: ended the process with exit status 0");
  EXPECT_EQ(told_of_exit(kNoCoreExitStatus, true),
            "crashed in load: ended the process with exit status 95");
}

TEST(Judgement, ReadingsOfASentinelAreTimes) {
  EXPECT_EQ(sane(SentinelReading{1, 2}).memory_us, 2);
  EXPECT_EQ(sane(SentinelReading{NAN, 2}).memory_us, 0);
  EXPECT_EQ(sane(SentinelReading{1, -2}).compute_us, 0);
}

}  // namespace
}  // namespace attune::probe
