#include "tuner/whole_model/known_answer.h"

#include <gtest/gtest.h>

#include "compiler/model/load/prepared_model.h"
#include "tuner/records/sample_records_testing.h"

namespace attune::whole_model {
namespace {

const std::string kConvolution = "conv2d:h=8,w=8,ic=16,oc=16,kh=3,kw=3";

model::ModelOptions of(const std::string& model) { return {.model = model, .threads = 1}; }

// A store that knows a fast schedule by Winograd, of 10 µs, and a direct one of 50 µs.
class KnownAnswer : public testing::Test {
 protected:
  KnownAnswer() : path_(folder_.file("records.db")) {
    std::vector<records::Record> known;
    for (const auto& [algorithm, us] : {std::pair("winograd4", 10.0), {"direct", 50.0}}) {
      const model::SourceOptions source{.model = of(kConvolution + ",algo=" + algorithm),
                                        .schedule = {.use_default = true}};
      const auto model = model::prepare_model(model::load_model(source.model).value(), source);
      EXPECT_TRUE(model.ok()) << model.error().message;
      const graph::Task& task = model->tasks.distinct.front();
      records::Record record = records::sample_record(0, records::timing(us));
      record.task_key = task.key;
      record.target = model->model.target_text();
      record.trace = schedule::to_string(model->schedules.front().trace);
      record.trace_hash = hash_bytes(record.trace);
      known.push_back(record);
    }
    EXPECT_TRUE(records::open_sqlite_store(path_).value()->add(known).ok());
  }
  std::optional<TuneReport> ask(const model::ModelOptions& model, double goal_ms,
                                const model::ScheduleOptions& where) const {
    auto answer = known_answer(model::load_model(model).value(), model, where, goal_ms);
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    return answer.ok() ? *answer : std::nullopt;
  }
  std::optional<TuneReport> ask(const model::ModelOptions& model, double goal_ms) const {
    return ask(model, goal_ms, {.records = path_});
  }

  test::TemporaryDirectory folder_;
  std::string path_;
};

TEST_F(KnownAnswer, IsTheFastestRecord) {
  const auto report = ask(of(kConvolution), 0.02);
  ASSERT_TRUE(report);
  EXPECT_DOUBLE_EQ(*report->latency_ms, 0.01);
  EXPECT_EQ(report->tasks[0].algorithm, "winograd4");
  EXPECT_EQ(report->tasks[0].trials, 0);
  EXPECT_TRUE(report->reached());
  EXPECT_EQ(report->records, path_);
  EXPECT_FALSE(ask(of(kConvolution), 0.005)) << "nothing is as fast";
  EXPECT_FALSE(ask(of(kConvolution), 0)) << "there is no goal";
}

TEST_F(KnownAnswer, IsOfAnAlgorithmThatIsAllowed) {
  EXPECT_FALSE(ask(of(kConvolution + ",algo=direct"), 0.02));
  model::ModelOptions exact = of(kConvolution);
  exact.exact = true;
  EXPECT_FALSE(ask(exact, 0.02));
  const auto report = ask(exact, 0.1);
  ASSERT_TRUE(report);
  EXPECT_DOUBLE_EQ(*report->latency_ms, 0.05);
  EXPECT_EQ(report->tasks[0].algorithm, "direct");
}

TEST_F(KnownAnswer, ComesFromAFurtherStoreToo) {
  const std::string own = folder_.file("own.db");
  EXPECT_FALSE(ask(of(kConvolution), 0.02, {.records = own}));
  EXPECT_TRUE(ask(of(kConvolution), 0.02, {.records = own, .history = path_}));
  EXPECT_FALSE(ask(of(kConvolution), 0.02, {.records = path_, .history = "none"}));
}

TEST_F(KnownAnswer, IsOfAsManyThreads) {
  model::ModelOptions two = of(kConvolution);
  two.threads = 2;
  EXPECT_FALSE(ask(two, 0.02));
}

}  // namespace
}  // namespace attune::whole_model
