#include "tuner/logs/log_line.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/rng.h"
#include "tuner/logs/sample_lines_testing.h"

namespace attune::logs {
namespace {

LogRecord record_in(const std::string& line) {
  const LogLine parsed = parse_log_line(line);
  const auto* record = std::get_if<LogRecord>(&parsed);
  const auto* problem = std::get_if<records::LineProblem>(&parsed);
  EXPECT_TRUE(record) << line << ": " << (problem ? problem->message : "skipped");
  return record ? *record : LogRecord{};
}

records::LineProblem problem_in(const std::string& line) {
  const LogLine parsed = parse_log_line(line);
  const auto* problem = std::get_if<records::LineProblem>(&parsed);
  EXPECT_TRUE(problem) << line;
  return problem ? *problem : records::LineProblem{};
}

std::optional<Skipped> skipped(const std::string& line) {
  const LogLine parsed = parse_log_line(line);
  const auto* kind = std::get_if<Skipped>(&parsed);
  return kind ? std::optional(*kind) : std::nullopt;
}

TEST(LogLine, ReadsARecord) {
  const LogRecord record = record_in(conv2d_line());
  EXPECT_EQ(record.target, "llvm -mcpu=skylake-avx512");
  EXPECT_EQ(record.task, "conv2d_NCHWc.x86");
  ASSERT_EQ(record.arguments.size(), 8u);
  ASSERT_TRUE(record.arguments[0].as<Tensor>());
  EXPECT_EQ(record.arguments[0].as<Tensor>()->shape, (std::vector<std::int64_t>{1, 64, 56, 56}));
  EXPECT_EQ(record.arguments[5], (Value{std::string("NCHW")}));
  ASSERT_EQ(record.entities.size(), 4u);
  EXPECT_EQ(
      record.entities[2],
      (Entity{"tile_ow", EntityKind::Split, {Value::List{{std::int64_t{4}}, {std::int64_t{14}}}}}));
  EXPECT_EQ(record.entities[3], (Entity{"unroll_kw", EntityKind::Other, {true}}));
  EXPECT_EQ(record.index, 17);
  EXPECT_DOUBLE_EQ(mean_seconds(record), 2e-4);
  EXPECT_EQ(record.error, 0);
  EXPECT_EQ(record.tvm_version, "0.8.0");
}

TEST(LogLine, ReadsAllKindsOfKnobs) {
  const LogRecord record = record_in(line_of(
      "llvm", "conv2d_nchw_spatial_pack.arm_cpu", R"([["TENSOR", [1, 8, 8, 8], "float32"]])",
      R"([["tile_co", "sp", [-1, 8]], ["reorder_0", "re", [0, 2, 1]],
          ["ann_reduce", "an", ["unroll", "none"]], ["layout", "ot", "wide"], ["p", "ot", 0.5]])"));
  ASSERT_EQ(record.entities.size(), 5u);
  EXPECT_EQ(record.entities[1].kind, EntityKind::Reorder);
  EXPECT_EQ(record.entities[2].kind, EntityKind::Annotate);
  EXPECT_EQ(record.entities[4].value, (Value{0.5}));
}

TEST(LogLine, SkipsWhatIsNoRecord) {
  for (const char* comment : {"", "   ", "# tuned on a laptop", "  # indented", "\r"}) {
    EXPECT_EQ(skipped(comment), Skipped::Comment) << comment;
  }
  EXPECT_EQ(skipped(old_version_line()), Skipped::OldVersion);
  EXPECT_EQ(skipped(R"({"input": [], "config": {}, "result": [], "version": 0.1})"),
            Skipped::OldVersion);
  EXPECT_EQ(skipped(auto_scheduler_line()), Skipped::AutoScheduler);
}

TEST(LogLine, ReadsOldSpellings) {
  const LogRecord record = record_in(
      R"({"i": ["llvm", "topi_nn_dense", [["TENSOR", [1, 8], "float32"], ["TENSOR", [4, 8], )"
      R"("float32"], null, "float32"], {}, ["dense"], {"i": 3, "t": "direct", "c": null, )"
      R"("e": [["tile_y", "sp", [1, 1]]]}], "r": [[0.001], 0, 1.0, 1.0], "version": 0.2})");
  EXPECT_EQ(record.index, 3);
  EXPECT_EQ(record.entities.size(), 1u);
  EXPECT_DOUBLE_EQ(mean_seconds(record), 0.001);
}

TEST(LogLine, FailuresHaveNoTime) {
  const LogRecord failed =
      record_in(line_of("llvm", "dense_pack.x86", "[]", "[]", "[[1000000000.0], 6, 10.0, 1.5e9]"));
  EXPECT_EQ(failed.error, 6);
  EXPECT_EQ(mean_seconds(failed), 0);
  EXPECT_EQ(describe_error(failed.error), "build timed out");
  EXPECT_EQ(describe_error(99), "unknown error");
  // What Python writes for numbers that JSON does not have.
  EXPECT_EQ(mean_seconds(record_in(
                line_of("llvm", "dense_pack.x86", "[]", "[]", "[[Infinity, NaN], 0, 1.0, 2.0]"))),
            0);
  // A text instead of times.
  EXPECT_EQ(record_in(line_of("llvm", "t", "[]", "[]", R"([["died", 1], 4, 1, 2])")).error, 4);
}

TEST(LogLine, TheMeanOfTheTimesCounts) {
  EXPECT_DOUBLE_EQ(
      mean_seconds(record_in(line_of("llvm", "t", "[]", "[]", "[[0.1, 0.3], 0, 1, 2]"))), 0.2);
}

TEST(LogLine, DamageHasItsColumn) {
  const std::string line = conv2d_line();
  const records::LineProblem cut = problem_in(line.substr(0, 100));
  EXPECT_EQ(cut.line, 1u);
  EXPECT_NEAR(static_cast<double>(cut.column), 100, 1);
  EXPECT_EQ(cut.message.rfind("syntax error", 0), 0u) << cut.message;
  EXPECT_EQ(problem_in("{\"input\": 5x}").column, 12u);
  EXPECT_EQ(problem_in("[1, 2]").message, "a record is not a JSON object");
  const std::string deep(1 << 20, '[');
  EXPECT_EQ(problem_in(deep).message, "it is nested more than 100 deep");
  EXPECT_FALSE(looks_like_log(deep));
  EXPECT_EQ(problem_in("{\"result\": 5}").message, "'input' is missing");
  const records::LineProblem kind =
      problem_in(line_of("llvm", "t", "[]", R"([["tile_x", "xx", [1]]])"));
  EXPECT_EQ(kind.message, "knob 'tile_x' is of unknown kind 'xx'");
  EXPECT_EQ(kind.column,
            line_of("llvm", "t", "[]", R"([["tile_x", "xx", [1]]])").find("\"tile_x\"") + 1);
  EXPECT_EQ(problem_in(line_of("llvm", "t", "[]", R"([["tile_x", "sp", ["a"]]])")).message,
            "knob 'tile_x' holds something else than whole numbers");
  EXPECT_EQ(problem_in(line_of("llvm", "t", "[]", R"([["tile_x", "sp", 4]])")).message,
            "the value of knob 'tile_x' is not a list");
  EXPECT_EQ(problem_in(line_of("llvm", "t", "{}", "[]")).message,
            "the arguments of the task are not a list");
  EXPECT_EQ(problem_in(line_of("llvm", "t", "[]", "[]", "[[], 0, 1, 2]")).message,
            "the result has neither times nor an error");
  EXPECT_EQ(problem_in(line_of("llvm", "t", "[]", "[]", "[[1], 0]")).message,
            "'result' is not [[seconds], error, seconds in all, time]");
  EXPECT_EQ(problem_in(R"({"input": [], "version": 0.7})").message,
            "version 0.7 of the format is not known, only 0.2");
}

TEST(LogLine, WritesWhatItReads) {
  for (const std::string& line : sample_lines()) {
    const LogRecord record = record_in(line);
    const LogRecord again = record_in(to_log_line(record));
    EXPECT_EQ(again.target, record.target);
    EXPECT_EQ(again.task, record.task);
    EXPECT_EQ(again.arguments, record.arguments);
    EXPECT_EQ(again.entities, record.entities);
    EXPECT_EQ(again.seconds, record.seconds);
    EXPECT_EQ(again.index, record.index);
    EXPECT_EQ(again.unix_seconds, record.unix_seconds);
  }
}

TEST(LogLine, KnowsALogWhenItSeesOne) {
  EXPECT_TRUE(looks_like_log(conv2d_line()));
  EXPECT_TRUE(looks_like_log(old_version_line()));
  EXPECT_TRUE(looks_like_log(auto_scheduler_line()));
  EXPECT_FALSE(looks_like_log(R"({"schema": 1, "task_key": "00"})"));
  EXPECT_FALSE(looks_like_log("split anchor i 4"));
}

// Whatever happens to a line, it is read, skipped or refused with a place within it.
TEST(LogLine, SurvivesMutations) {
  Rng rng(7);
  const std::vector<std::string> lines = sample_lines();
  for (int i = 0; i < 20000; ++i) {
    const std::string line = mutated(lines[rng.below(lines.size())], rng);
    const LogLine parsed = parse_log_line(line);
    if (const auto* problem = std::get_if<records::LineProblem>(&parsed)) {
      EXPECT_FALSE(problem->message.empty()) << line;
      EXPECT_GE(problem->column, 1u) << line;
      EXPECT_LE(problem->column, line.size() + 2) << line;
    }
  }
}

}  // namespace
}  // namespace attune::logs
