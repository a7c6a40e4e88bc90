#include "tuner/records/record_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tuner/records/sample_records_testing.h"

namespace attune::records {
namespace {

using outcome::Phase;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(RecordJson, EveryOutcomeSurvivesTheRoundTrip) {
  const outcome::Outcome outcomes[] = {
      timing(1.5),
      outcome::Timing{.cut_short = true, .cold_weights = true, .noisy = true},
      outcome::BuildFailed{Phase::Build, "spills 40 registers"},
      outcome::RunCrashed{Phase::Run, 11, "segmentation fault"},
      outcome::TimedOut{Phase::Run, 2000, "no answer after 2000 ms"},
      outcome::WrongAnswer{Phase::Verify, kInfinity, "NaN at [3, 4]"},
      outcome::InfrastructureLost{Phase::Prepare, "the runner vanished"},
  };
  for (const outcome::Outcome& outcome : outcomes) {
    const Result<outcome::Outcome> alone = outcome_from_json(outcome_to_json(outcome));
    ASSERT_TRUE(alone.ok()) << alone.error().message;
    EXPECT_EQ(*alone, outcome);
    Record record = sample_record(4, outcome);
    record.weights = Weights::Cold;
    const std::string line = record_to_json_line(record);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto parsed = parse_json_line(line);
    ASSERT_TRUE(std::holds_alternative<Record>(parsed)) << std::get<LineProblem>(parsed).message;
    EXPECT_EQ(std::get<Record>(parsed).outcome, outcome);
    EXPECT_EQ(record_to_json_line(std::get<Record>(parsed)), line);
  }
}

TEST(RecordJson, FieldsAreWhatTheyWere) {
  Record record = sample_record(4, timing(1.5));
  record.id = 9;
  record.session = 3;
  const auto parsed = std::get<Record>(parse_json_line(record_to_json_line(record)));
  EXPECT_EQ(parsed.id, 0);
  EXPECT_EQ(parsed.session, 0);
  EXPECT_EQ(parsed.task_key, kTask);
  EXPECT_EQ(parsed.task_name, record.task_name);
  EXPECT_EQ(parsed.target, kTarget);
  EXPECT_EQ(parsed.trace, record.trace);
  EXPECT_EQ(parsed.trace_hash, record.trace_hash);
  EXPECT_EQ(parsed.weights, Weights::Hot);
  EXPECT_EQ(parsed.stages.build_ms, 12.5);
  EXPECT_EQ(parsed.stages.run_ms, 3.25);
  EXPECT_EQ(parsed.stages.wait_ms, 0.5);
  EXPECT_EQ(parsed.product_version, "0.1.0");
  EXPECT_EQ(parsed.device, "AMD EPYC");
  EXPECT_EQ(parsed.noise.cv, 0.125);
  EXPECT_EQ(parsed.noise.sentinel_drift, -0.0625);
  EXPECT_EQ(parsed.seed, 0xfedcba9876543210ull);
  EXPECT_EQ(parsed.number, 4);
  EXPECT_TRUE(parsed.verified);
  EXPECT_EQ(parsed.created_at_ms, 1700000000004);
}

TEST(RecordJson, BytesThatAreNoTextDoNotBreakTheLine) {
  const Record record =
      sample_record(0, outcome::RunCrashed{Phase::Run, 6, "said \xff\xfe and \"quit\"\n"});
  const auto parsed = parse_json_line(record_to_json_line(record));
  ASSERT_TRUE(std::holds_alternative<Record>(parsed));
  EXPECT_EQ(std::get<outcome::RunCrashed>(std::get<Record>(parsed).outcome).reason,
            "said \xEF\xBF\xBD\xEF\xBF\xBD and \"quit\"\n");
}

struct BadLine {
  const char* from;
  const char* to;
  const char* at;  // the column is that of this text in the changed line, or 1
  const char* message;
};

TEST(RecordJson, ProblemsNameFieldAndColumn) {
  const std::string good = record_to_json_line(sample_record(0, timing(2)));
  const BadLine cases[] = {
      {"\"schema\":1", "\"schema\":3", "\"schema\"",
       "field 'schema' is 3, this attune reads 1 and 2"},
      {"\"schema\":1", "\"schema\":2", nullptr, "field 'flops' is missing"},
      {"\"task_key\"", "\"task\"", nullptr, "field 'task_key' is missing"},
      {"\"seed\":18364758544493064720", "\"seed\":-3", "\"seed\"", "field 'seed' is out of range"},
      {"\"seed\":18364758544493064720", "\"seed\":1.5", "\"seed\"",
       "field 'seed' is not a whole number"},
      {"\"repeats\":3", "\"repeats\":4294967296", "\"repeats\"", "field 'repeats' is out of range"},
      {"\"best_us\":2.0", "\"best_us\":\"2\"", "\"best_us\"", "field 'best_us' is not a number"},
      {"\"kind\":\"timing\"", "\"kind\":\"guess\"", "\"kind\"",
       "field 'kind' has the unknown value 'guess'"},
      {"\"weights\":\"hot\"", "\"weights\":\"warm\"", "\"weights\"",
       "field 'weights' is neither 'hot' nor 'cold'"},
      {"\"trace_hash\":\"", "\"trace_hash\":\"x", "\"trace_hash\"",
       "field 'trace_hash' is not a hash of 16 hexadecimal digits"},
      {"\"device\":\"AMD EPYC\"", "\"device\":null", "\"device\"", "field 'device' is not a text"},
  };
  for (const BadLine& bad : cases) {
    std::string line = good;
    const std::size_t place = line.find(bad.from);
    ASSERT_NE(place, std::string::npos) << bad.from << " in " << line;
    line.replace(place, std::string(bad.from).size(), bad.to);
    const auto parsed = parse_json_line(line);
    ASSERT_TRUE(std::holds_alternative<LineProblem>(parsed)) << bad.to;
    EXPECT_EQ(std::get<LineProblem>(parsed).message, bad.message);
    const std::size_t column = bad.at == nullptr ? 1 : line.find(bad.at) + 1;
    EXPECT_EQ(std::get<LineProblem>(parsed).column, column) << bad.to;
  }
}

TEST(RecordJson, TruncatedAndForeignLines) {
  const std::string good = record_to_json_line(sample_record(0, timing(2)));
  const auto cut = std::get<LineProblem>(parse_json_line(good.substr(0, 40)));
  EXPECT_EQ(cut.column, 41u);
  EXPECT_NE(cut.message.find("syntax error"), std::string::npos) << cut.message;
  const auto array = std::get<LineProblem>(parse_json_line("[1, 2]"));
  EXPECT_EQ(array.column, 1u);
  EXPECT_EQ(array.message, "expected a JSON object");
  const std::string deep(1 << 20, '[');
  EXPECT_EQ(std::get<LineProblem>(parse_json_line(deep)).message,
            "it is nested more than 100 deep");
  EXPECT_FALSE(outcome_from_json(deep).ok());
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_TRUE(std::holds_alternative<LineProblem>(parse_json_line(good.substr(0, length))));
  }
}

TEST(RecordJson, DefinitionsSurviveTheRoundTrip) {
  const TaskDefinition task{kTask,
                            "matmul:m=64,n=64,k=64",
                            524288,
                            {{"direct", "program p {\n}\n", 1e-5}, {"gemm", "program q {}", 0.25}}};
  const std::string line = task_to_json_line(task);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto parsed = parse_json_line(line);
  ASSERT_TRUE(std::holds_alternative<TaskDefinition>(parsed));
  const auto& read = std::get<TaskDefinition>(parsed);
  EXPECT_EQ(task_to_json_line(read), line);
  EXPECT_EQ(read.key, kTask);
  EXPECT_EQ(read.name, task.name);
  EXPECT_EQ(read.flops, 524288);
  ASSERT_EQ(read.programs.size(), 2u);
  EXPECT_EQ(read.programs[1].algorithm, "gemm");
  EXPECT_EQ(read.programs[1].text, "program q {}");
  EXPECT_EQ(read.programs[1].tolerance, 0.25);
}

TEST(RecordJson, DamagedDefinitionsAreProblems) {
  const auto problem = [](const std::string& fields) {
    const auto parsed = parse_json_line(R"({"schema":2,"task_name":"n","flops":1,)" + fields + "}");
    const auto* found = std::get_if<LineProblem>(&parsed);
    return found ? found->message : "none";
  };
  EXPECT_EQ(problem(R"("task_key":"a","programs":[])"),
            "field 'programs' is not a list of programs");
  EXPECT_EQ(problem(R"("task_key":"a")"), "field 'programs' is not a list of programs");
  EXPECT_EQ(problem(R"("task_key":"a","programs":[7])"), "expected a JSON object");
  EXPECT_EQ(problem(R"("task_key":"a","programs":[{"algorithm":"direct","text":1}])"),
            "field 'text' is not a text");
  EXPECT_EQ(problem(R"("task_key":"","programs":[])"), "field 'task_key' is empty");
}

TEST(RecordJson, OnlySoundTimingsCompete) {
  EXPECT_EQ(competing_time_us(timing(2)), 2);
  EXPECT_FALSE(competing_time_us(timing(0)));
  EXPECT_FALSE(competing_time_us(timing(std::nan(""))));
  EXPECT_FALSE(competing_time_us(outcome::TimedOut{}));
}

TEST(RecordJson, DamagedOutcomeIsAnError) {
  const Result<outcome::Outcome> outcome = outcome_from_json("{\"kind\":\"tim");
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::Corrupt);
  EXPECT_EQ(outcome.error().message, "a stored outcome is damaged: expected a JSON object");
}

}  // namespace
}  // namespace attune::records
