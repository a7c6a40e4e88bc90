#include "app/job_worker/worker.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "app/job_worker/job_folder.h"
#include "app/job_worker/job_resources.h"
#include "app/verbs/jobs/job_options.h"
#include "compiler/frontend/zoo/zoo.h"
#include "compiler/model/load/prepared_model.h"
#include "fleet/worker/admitting_scheduler_testing.h"
#include "targets/cpu/facts/machine_here.h"
#include "targets/kinds.h"
#include "tuner/records/sample_records_testing.h"
#include "tuner/records/store.h"

namespace attune::job_worker {
namespace {

// A worker on a thread of its own, until the scheduler sends it away.
class WorkerTest : public testing::Test {
 protected:
  void start() {
    thread_ = std::thread(
        [this] { status_ = work({.state = scheduler_.state(), .patience_seconds = 300}); });
  }
  void TearDown() override {
    scheduler_.turn_away();
    if (!thread_.joinable()) return;
    thread_.join();
    ASSERT_FALSE(status_.ok());
    EXPECT_EQ(status_.error().message, "nobody is needed any more");
  }
  v1::JobSpec spec(const std::string& model) {
    v1::JobSpec spec;
    spec.set_model(model);
    spec.set_device("cpu");
    spec.set_threads(1);
    spec.set_prefetch(1);
    spec.set_in_turn(true);
    spec.set_options_json(to_json(verbs::JobOptions{.records = store(), .history = "none"}));
    return spec;
  }
  std::string store() const { return scheduler_.state() + "/user.db"; }

  worker::AdmittingScheduler scheduler_;

 private:
  std::thread thread_;
  Status status_;
};

TEST_F(WorkerTest, TunesAnOperatorAndKeepsItsRecords) {
  v1::JobSpec job = spec("matmul:m=32,n=32,k=32");
  job.set_trials(20);
  scheduler_.give("j1", job);
  start();
  const v1::Ended ended = scheduler_.ended();
  EXPECT_EQ(ended.state(), v1::DONE) << ended.reason();
  EXPECT_TRUE(scheduler_.mistakes().empty()) << scheduler_.mistakes().front();
  EXPECT_EQ(scheduler_.most_at_once(), 1) << "one stage after the other";
  const std::map<std::string, int> finished = scheduler_.finished();
  for (const char* kind : {"peak", "init", "select", "build", "profile", "update", "confirm"}) {
    EXPECT_TRUE(finished.count(kind) != 0) << kind;
  }
  EXPECT_EQ(scheduler_.progress().trials(), 20);
  EXPECT_GT(scheduler_.progress().best_ms(), 0);
  const auto merged = records::open_sqlite_store_for_reading(store());
  ASSERT_TRUE(merged.ok());
  const auto records = (*merged)->list({});
  ASSERT_TRUE(records.ok());
  EXPECT_GE(records->size(), 20U);
  for (const records::Record& record : *records) EXPECT_EQ(record.session, 0);
}

// Rounds of several tasks are selected, built and measured together: few stages to the scheduler.
TEST_F(WorkerTest, ABatchOfAModelSpansSeveralTasks) {
  v1::JobSpec job = spec("dqn");
  job.set_trials(2);
  scheduler_.give("j5", job);
  start();
  const v1::Ended ended = scheduler_.ended();
  EXPECT_EQ(ended.state(), v1::DONE) << ended.reason();
  EXPECT_TRUE(scheduler_.mistakes().empty()) << scheduler_.mistakes().front();
  EXPECT_EQ(scheduler_.most_at_once(), 1);
  const auto report = nlohmann::json::parse(ended.result_json());
  const auto tasks = static_cast<int>(report["tasks"].size());
  EXPECT_GE(tasks, 4);
  std::map<std::string, int> finished = scheduler_.finished();
  for (const char* kind : {"init", "select", "build", "profile"}) {
    EXPECT_GE(finished[kind], 1) << kind;
    EXPECT_LT(finished[kind], tasks) << kind;
  }
}

TEST_F(WorkerTest, StopKeepsTheBestSoFar) {
  v1::JobSpec job = spec("matmul:m=32,n=32,k=32");
  job.set_trials(100'000);
  scheduler_.give("j2", job, v1::STOP);
  start();
  const v1::Ended ended = scheduler_.ended();
  EXPECT_EQ(ended.state(), v1::STOPPED) << ended.reason();
  EXPECT_NE(ended.result_json().find("\"stopped\": true"), std::string::npos);
}

TEST_F(WorkerTest, CancelKeepsNothing) {
  v1::JobSpec job = spec("matmul:m=32,n=32,k=32");
  job.set_trials(100'000);
  scheduler_.give("j3", job, v1::CANCEL);
  start();
  EXPECT_EQ(scheduler_.ended().state(), v1::CANCELLED);
  EXPECT_TRUE(scheduler_.ended().result_json().empty());
}

// Until rounds were seen nobody knows how many fit into a time.
TEST_F(WorkerTest, SaysWhatIsLeftOnlyWhenItIsKnown) {
  v1::JobSpec job = spec("matmul:m=32,n=32,k=32");
  job.set_seconds(1);
  scheduler_.give("j6", job);
  start();
  const v1::Ended ended = scheduler_.ended();
  EXPECT_EQ(ended.state(), v1::DONE) << ended.reason();
  const auto said = scheduler_.said_left("profile");
  ASSERT_FALSE(said.empty());
  for (const auto& each : said) {
    EXPECT_TRUE(each.ended > 0 || each.left < 0) << "nothing was seen yet";
  }
  EXPECT_GE(said.back().left, 0) << "known in the end";
}

// The budget of a job is not spent for nothing when its artifact cannot be written.
TEST_F(WorkerTest, KeepsItsRecordsWhenTheOutputCannotBeWritten) {
  v1::JobSpec job = spec("mlp");
  job.set_trials(2);
  job.set_output(scheduler_.state() + "/gone/mlp.attune");
  scheduler_.give("j7", job);
  start();
  const v1::Ended ended = scheduler_.ended();
  EXPECT_EQ(ended.state(), v1::FAILED);
  const std::string kept = scheduler_.state() + "/jobs/j7/model.attune";
  EXPECT_EQ(ended.reason(), "cannot write '" + job.output() + "': directory '" +
                                scheduler_.state() +
                                "/gone' does not exist; the artifact is kept "
                                "as '" +
                                kept + "', its schedules are in the records");
  EXPECT_TRUE(std::filesystem::exists(kept));
  const auto merged = records::open_sqlite_store_for_reading(store());
  ASSERT_TRUE(merged.ok());
  EXPECT_FALSE((*merged)->list({})->empty());
}

// Names of models are names of files too, of those that lie where a process works.
TEST_F(WorkerTest, LooksForNoModelInTheFolderThatItWasStartedIn) {
  const test::TemporaryDirectory home;
  ASSERT_TRUE(zoo::export_model("mlp", home.file("net.onnx")).ok());
  std::filesystem::current_path(home.path());
  v1::JobSpec job = spec("net.onnx");
  job.set_trials(2);
  scheduler_.give("j12", job);
  start();
  const v1::Ended ended = scheduler_.ended();
  EXPECT_EQ(ended.state(), v1::FAILED);
  EXPECT_EQ(ended.reason(), "there is no file 'net.onnx'; check the path");
  EXPECT_EQ(std::filesystem::current_path(), "/");
}

// Neither device nor host is asked for.
TEST_F(WorkerTest, AnswersAKnownGoalAtOnce) {
  const model::SourceOptions source{.model = {.model = "matmul:m=32,n=32,k=32", .threads = 1},
                                    .schedule = {.use_default = true}};
  const auto model = model::prepare_model(model::load_model(source.model).value(), source);
  ASSERT_TRUE(model.ok());
  const graph::Task& task = model->tasks.distinct.front();
  records::Record record = records::sample_record(0, records::timing(5));
  record.task_key = task.key;
  record.target = model->model.target_text();
  record.trace = schedule::to_string(model->schedules.front().trace);
  record.trace_hash = hash_bytes(record.trace);
  ASSERT_TRUE(records::open_sqlite_store(store()).value()->add({{record}}).ok());
  v1::JobSpec job = spec("matmul:m=32,n=32,k=32");
  job.set_threads(0);
  job.set_until_latency_ms(1);
  job.set_options_json(to_json(verbs::JobOptions{.records = store()}));
  scheduler_.set_devices(1, 1);
  scheduler_.give("j8", job);
  start();
  const v1::Ended ended = scheduler_.ended();
  EXPECT_EQ(ended.state(), v1::DONE) << ended.reason();
  EXPECT_EQ(nlohmann::json::parse(ended.result_json())["latency_ms"], 0.005);
  EXPECT_TRUE(scheduler_.finished().empty());
  EXPECT_EQ(scheduler_.most_at_once(), 0);
}

// A goal is first raced with what is known, and then tuned for, with the same model.
TEST_F(WorkerTest, ImportsTheModelOfAGoalOnce) {
  const std::string file = scheduler_.state() + "/mlp.onnx";
  ASSERT_TRUE(zoo::export_model("mlp", file).ok());
  ASSERT_TRUE(records::open_sqlite_store(store()).ok());
  v1::JobSpec job = spec(file);
  job.set_trials(2);
  job.set_until_latency_ms(1e-6);
  job.set_output(scheduler_.state() + "/mlp.attune");
  job.set_options_json(to_json(verbs::JobOptions{.records = store()}));
  scheduler_.after_first_stage([&] { std::filesystem::remove(file); });
  scheduler_.give("j11", job);
  start();
  const v1::Ended ended = scheduler_.ended();
  EXPECT_EQ(ended.state(), v1::DONE) << ended.reason();
  std::map<std::string, int> finished = scheduler_.finished();
  EXPECT_EQ(finished["load"], 1);
  EXPECT_GE(finished["race"], 2) << "of what is known, and of what was tuned";
}

// On a machine that was measured, where compiling may look; others go by what is stated of it.
class MeasuredWorkerTest : public WorkerTest {
 protected:
  MeasuredWorkerTest() {
    probe::Speed speed;
    speed.core = {
        .cycles = 3, .fma_vectors = 6, .fma_bytes = 192, .broadcasts = 6, .load_bytes = 192};
    speed.one = speed.all = {.l2 = 120, .l3 = 60, .dram = 30};
    speed.fma_bytes_all = 192;
    speed.exchange = 6;
    speed.fork_join_us = 1;
    const auto machine = targets::this_machine();
    ::setenv("XDG_CACHE_HOME", scheduler_.state().c_str(), 1);
    EXPECT_TRUE(cpu::measure_machine(*machine, [&] { return Result(speed); }).ok());
    ::unsetenv("ATTUNE_MACHINE");
  }
  ~MeasuredWorkerTest() override {
    ::setenv("ATTUNE_MACHINE", "stated", 1);
    if (cache_) {
      ::setenv("XDG_CACHE_HOME", cache_->c_str(), 1);
    } else {
      ::unsetenv("XDG_CACHE_HOME");
    }
  }

 private:
  static std::optional<std::string> environment(const char* name) {
    const char* value = ::getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  }
  const std::optional<std::string> cache_ = environment("XDG_CACHE_HOME");
};

TEST_F(MeasuredWorkerTest, TimesNothingButWhatWasAdmitted) {
  ASSERT_TRUE(records::open_sqlite_store(store()).ok());
  v1::JobSpec job = spec("mlp");
  job.set_until_latency_ms(1e6);
  job.set_output(scheduler_.state() + "/mlp.attune");
  job.set_options_json(to_json(verbs::JobOptions{.records = store()}));
  scheduler_.give("j12", job);
  start();
  const v1::Ended ended = scheduler_.ended();
  EXPECT_EQ(ended.state(), v1::DONE) << ended.reason();
  EXPECT_EQ(scheduler_.finished()["race"], 1) << "what is known meets the goal";
  EXPECT_EQ(scheduler_.finished().count("profile"), 0);
  const auto known = records::open_sqlite_store_for_reading(store());
  ASSERT_TRUE(known.ok());
  EXPECT_TRUE((*known)->list({})->empty()) << "a look would have left records";
}

TEST_F(WorkerTest, HandsBackAJobWhoseFolderAnotherHas) {
  const std::atomic<bool> wanted = false;
  const auto other = JobFolder::open(scheduler_.state() + "/jobs/j9", wanted);
  ASSERT_TRUE(other.ok());
  scheduler_.give("j9", spec("matmul:m=32,n=32,k=32"));
  start();
  const v1::Ended ended = scheduler_.ended();
  EXPECT_EQ(ended.state(), v1::QUEUED);
  EXPECT_EQ(ended.reason(), fmt::format("process {} still has its folder '{}/jobs/j9', although it "
                                        "lost the job; end it if it does not go on",
                                        ::getpid(), scheduler_.state()));
}

TEST(BatchesInFlight, UseAllDevices) {
  EXPECT_EQ(batches_in_flight({.prefetch = 2}, {.count = 1}), 2);
  EXPECT_EQ(batches_in_flight({.prefetch = 2}, {.count = 4}), 5);
  EXPECT_EQ(batches_in_flight({.prefetch = 1}, {.count = 4}), 4);
  EXPECT_EQ(batches_in_flight({}, {}), 1);
  EXPECT_EQ(batches_in_flight({.prefetch = 1, .in_turn = true}, {.count = 4}), 1);
}

TEST_F(WorkerTest, AJobWhoseStageIsRefusedFailsInWords) {
  scheduler_.give("j10", spec("matmul:m=32,n=32,k=32"));
  scheduler_.refuse_offers("there is no kind 7");
  start();
  const v1::Ended ended = scheduler_.ended();
  EXPECT_EQ(ended.state(), v1::FAILED);
  EXPECT_EQ(ended.reason(), "the scheduler refused a stage: there is no kind 7");
}

TEST_F(WorkerTest, SaysWhyAJobCannotBeDone) {
  scheduler_.give("j4", spec("/nowhere/model.onnx"));
  start();
  const v1::Ended ended = scheduler_.ended();
  EXPECT_EQ(ended.state(), v1::FAILED);
  EXPECT_EQ(ended.reason(),
            "the model '/nowhere/model.onnx' is not there any more; submit it again when it is");
}

}  // namespace
}  // namespace attune::job_worker
