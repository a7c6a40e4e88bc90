// Whole tuning sessions on small operators: real templates, search, builder, measuring child and
// store.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "compiler/frontend/op_spec/op_spec.h"
#include "targets/kinds.h"
#include "tuner/measure/builder/local_builder.h"
#include "tuner/session/explorer_search.h"
#include "tuner/session/run_local.h"
#include "tuner/tunings/tunings.h"

namespace attune::session {
namespace {

class TuneSessionTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    target::Target wanted;
    wanted.threads = 1;
    const auto target = targets::resolve(wanted);
    ASSERT_TRUE(target.ok()) << target.error().message;
    target_ = *target;
    const tuning::CorePlan cores = tunings::plan_cores(target_);
    auto runner =
        tunings::tuning_of(target_).start_runner({.target = target_, .cores = cores.measure});
    ASSERT_TRUE(runner.ok()) << runner.error().message;
    runner_ = std::move(*runner);
    builder_ = std::make_unique<builder::LocalBuilder>(
        builder::LocalBuilderOptions{.target = target_, .cores = cores.build});
    path_ = testing::TempDir() + "/attune_tune_session." + std::to_string(getpid()) + ".db";
    remove_files();
    auto store = records::open_sqlite_store(path_);
    ASSERT_TRUE(store.ok()) << store.error().message;
    store_ = std::move(*store);
  }
  void TearDown() override {
    store_.reset();
    remove_files();
  }
  void remove_files() {
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + end);
  }

  std::unique_ptr<Session> open(const std::string& spec, std::int64_t trials, bool resume) {
    const auto op = op_spec::parse_op_spec(spec, target_);
    EXPECT_TRUE(op.ok()) << op.error().message;
    Task task{.key = op->key, .name = op->spec, .flops = op->flops, .algorithms = {}};
    task.algorithms.push_back(
        {"direct", std::make_shared<const ir::Program>(op->program), op->tolerance});
    auto search = make_template_search(task, target_, {}, 1);
    EXPECT_TRUE(search.ok()) << search.error().message;
    const schedule::Trace first = tunings::default_trace(task.reference(), target_);
    Options options{.trials = trials, .seed = 1, .resume = resume, .batch = 6};
    options.run.compare_rounds = 2;
    options.run.compare_round_ms = 0;
    auto session = Session::open({*store_, *builder_, *runner_, clock_}, std::move(task),
                                 target::to_string(target_), std::move(*search), first, options);
    EXPECT_TRUE(session.ok()) << session.error().message;
    return std::move(*session);
  }

  std::string path_;
  target::Target target_;
  SteadyClock clock_;
  std::unique_ptr<measure::Runner> runner_;
  std::unique_ptr<builder::LocalBuilder> builder_;
  std::unique_ptr<records::Store> store_;
};

TEST_P(TuneSessionTest, FindsAVerifiedScheduleAndGoesOn) {
  auto session = open(GetParam(), 6, false);
  Status status = run_local(*session);
  ASSERT_TRUE(status.ok()) << status.error().message;
  TaskReport report = session->report();
  EXPECT_TRUE(report.trials == 6 || report.exhausted) << report.trials;
  ASSERT_TRUE(report.best_us && report.default_us) << report.default_failure;
  EXPECT_LE(*report.best_us, *report.default_us);
  EXPECT_EQ(report.failures.count("wrong_answer"), 0u);
  const auto best = store_->best({.task_key = report.key, .target = target::to_string(target_)});
  ASSERT_TRUE(best.ok() && best->has_value());
  EXPECT_TRUE((*best)->verified);
  EXPECT_EQ((*best)->id, report.best_record);

  session = open(GetParam(), 12, true);
  status = run_local(*session);
  ASSERT_TRUE(status.ok()) << status.error().message;
  report = session->report();
  EXPECT_TRUE(report.resumed);
  EXPECT_TRUE(report.trials == 12 || report.exhausted) << report.trials;
  EXPECT_LE(report.trials_this_run, 6);
}

INSTANTIATE_TEST_SUITE_P(Operators, TuneSessionTest,
                         testing::Values("matmul:m=40,n=48,k=24", "dense:m=8,n=32,k=16",
                                         "conv2d:h=10,w=10,ic=16,oc=32,kh=3,kw=3,stride=1,pad=1",
                                         "depthwise:h=12,w=12,c=32,k=3,stride=1",
                                         "softmax:m=8,n=40", "elementwise:m=16,n=40,op=relu"),
                         [](const auto& operator_) {
                           const std::string spec = operator_.param;
                           return spec.substr(0, spec.find(':'));
                         });

}  // namespace
}  // namespace attune::session
