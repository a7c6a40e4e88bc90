#include "fleet/jobs/simulation/experiment_file.h"
#include "fleet/jobs/policies/policies.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace attune::jobs {
namespace {

TEST(ParseExperiment, ReadsAllThatAPlanSays) {
  const auto plan = parse_experiment(R"({
    "pools": {"host": 2, "device": 1}, "noise": 0.3, "heterogeneity": 0.6, "quotas": {"anna": 2},
    "jobs": [{"name": "resnet18", "count": 2, "batches": 3, "prefetch": 2, "user": "anna",
              "priority": 1.5, "submit_at": 10,
              "opening": [{"name": "load", "seconds": 2}],
              "stages": [{"name": "build", "amount": 2, "seconds": 8.3},
                         {"name": "profile", "seconds": [39, 40, 41, 99]}],
              "closing": [{"name": "race", "pool": "device", "seconds": [5, 6]}]},
             {"stages": [{"seconds": 1}]}]})");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->noise, 0.3);
  EXPECT_EQ(plan->heterogeneity, 0.6);
  EXPECT_EQ(plan->quotas, (std::map<std::string, int>{{"anna", 2}}));
  ASSERT_EQ(plan->pools.size(), 2u);
  EXPECT_EQ(plan->pools[0].name, "host");
  EXPECT_EQ(plan->pools[0].capacity, 2);
  ASSERT_EQ(plan->jobs.size(), 3u);
  EXPECT_EQ(plan->jobs[0].name, "resnet18 0");
  const MockJob& job = plan->jobs[1];
  EXPECT_EQ(job.name, "resnet18 1");
  EXPECT_EQ(job.user, "anna");
  EXPECT_EQ(job.priority, 1.5);
  EXPECT_EQ(job.submit_at, 10);
  EXPECT_EQ(job.batches, 3);
  EXPECT_EQ(job.prefetch, 2);
  EXPECT_EQ(job.stages[0].amount, 2);
  EXPECT_EQ(job.stages[0].mean_seconds, 8.3);
  EXPECT_TRUE(job.stages[0].recorded_seconds.empty());
  // As many times as there are stages, and their mean.
  EXPECT_EQ(job.stages[1].recorded_seconds, (std::vector<double>{39, 40, 41}));
  EXPECT_EQ(job.stages[1].mean_seconds, 40);
  EXPECT_EQ(job.closing[0].recorded_seconds, (std::vector<double>{5}));
  EXPECT_EQ(plan->jobs[2].name, "job");
  EXPECT_EQ(plan->jobs[2].batches, 60);
}

TEST(ParseExperiment, AStageWithoutAPoolRunsWhereTheOptionsPutIt) {
  const auto plan = parse_experiment(R"({
    "pools": {"host": 2, "device": 2}, "noise": 0.3, "heterogeneity": 0.6,
    "jobs": [{"count": 4, "batches": 9, "stages": [
      {"name": "build", "seconds": 8.3}, {"name": "profile", "seconds": 39.5},
      {"name": "update", "seconds": 44}]}]})");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  Experiment flags{{{"host", 2}, {"device", 2}}, {}, 0.3, 0.6};
  MockJob job{.name = "job", .batches = 9};
  job.stages = *parse_stages("build=8.3,profile=39.5,update=44", flags.pools);
  ASSERT_TRUE(add_jobs(flags, job, 4).ok());
  EXPECT_EQ(plan->jobs[0].stages[0].pool, 0u);
  EXPECT_EQ(plan->jobs[0].stages[1].pool, 1u);
  EXPECT_EQ(plan->jobs[0].stages[2].pool, 0u);
  const Policy& policy = **find_policy("makespan");
  EXPECT_EQ(simulate(*plan, policy, 3).makespan, simulate(flags, policy, 3).makespan);
}

TEST(ParseExperiment, ConstantLognormalAndRecordedTimesAreSimulated) {
  const auto makespan = [](const std::string& extra, const std::string& seconds, int seed) {
    const auto plan = parse_experiment(fmt::format(
        R"({{"pools": {{"host": 1}}, {}"jobs": [{{"batches": 4, "stages": [{{"seconds": {}}}]}}]}})",
        extra, seconds));
    return simulate(*plan, **find_policy("fair"), static_cast<std::uint64_t>(seed)).makespan;
  };
  EXPECT_DOUBLE_EQ(makespan("", "2.5", 1), 10);
  EXPECT_DOUBLE_EQ(makespan("", "2.5", 2), 10);
  const std::string drawn = R"("noise": 0.3, "heterogeneity": 0.6, )";
  EXPECT_NE(makespan(drawn, "2.5", 1), makespan(drawn, "2.5", 2));
  EXPECT_DOUBLE_EQ(makespan(drawn, "[1, 2, 4]", 1), 1 + 2 + 4 + 1);
}

struct Refusal {
  std::string plan, message, hint;
};

void expect_refused(const Refusal& wrong) {
  const auto plan = parse_experiment(wrong.plan);
  ASSERT_FALSE(plan.ok()) << wrong.plan;
  EXPECT_EQ(plan.error().message, wrong.message) << wrong.plan;
  EXPECT_EQ(plan.error().hint, wrong.hint) << wrong.plan;
}

// A plan that is right but for what stands in this place of the job or of the stage.
std::string with_job(const std::string& text) {
  return R"({"pools": {"host": 2, "device": 1}, "jobs": [{)" + text + "}]}";
}
std::string with_stage(const std::string& text) {
  return with_job(R"("stages": [{)" + text + "}]");
}

TEST(ParseExperiment, RefusesWhatIsNoPlan) {
  const std::string write = R"(write {"pools": {"host": 2, "device": 1}, "jobs": […]})";
  const std::string jobs = R"("jobs": [{"stages": [{"seconds": 1}]}])";
  const std::string pools = R"("pools": {"host": 2})";
  const std::string one = R"(give "jobs": [{"stages": [{"name": "build", "seconds": 8.3}]}])";
  const std::vector<Refusal> all{
      {"", "the plan is not JSON from line 1, column 1 on", write},
      {"{\n  \"pools\": host}", "the plan is not JSON from line 2, column 12 on", write},
      {"[]", "the plan is not a JSON object", write},
      {R"({"noise": 1e999})", "the plan has a number that is too large", "choose one below 1e9"},
      {"{" + jobs + "}", "the plan has no pools", R"(give "pools": {"host": 2, "device": 1})"},
      {R"({"pools": {}, )" + jobs + "}", "the plan has no pools",
       R"(give "pools": {"host": 2, "device": 1})"},
      {R"({"pools": {"host": 0}, )" + jobs + "}", "'host' is 0 in the plan",
       "choose a number from 1 to 100000"},
      {R"({"pools": {"host": 1.5}, )" + jobs + "}",
       "'host' is 1.5 in the plan, which is not a whole number",
       "choose a whole number from 1 to 100000"},
      {R"({"pools": {"host": "two"}, )" + jobs + "}", "'host' is not a number in the plan",
       "write it as 1.5"},
      {"{" + pools + "}", "the plan has no jobs", one},
      {"{" + pools + R"(, "jobs": []})", "the plan has no jobs", one},
      {"{" + pools + R"(, "jobs": [7]})", "a job of the plan is not an object",
       R"(write it as {"stages": [{"name": "build", "seconds": 8.3}]})"},
      {"{" + pools + R"(, "nosie": 1, )" + jobs + "}", "the plan has no key 'nosie'",
       "did you mean 'noise'? its keys are pools, jobs, noise, heterogeneity, quotas"},
      {"{" + pools + R"(, "noise": -1, )" + jobs + "}", "'noise' is -1 in the plan",
       "choose a number from 0 to 10"},
      {"{" + pools + R"(, "quotas": 3, )" + jobs + "}", "'quotas' is not an object in the plan",
       R"(write it as {"anna": 2})"},
      {"{" + pools + R"(, "quotas": {"ann": 3}, )" + jobs + "}",
       "'quotas' of the plan names 'ann', who has no job", R"(give a job "user": "ann")"},
      {"{" + pools + R"(, "quotas": {"": 0}, )" + jobs + "}", "'' is 0 in the plan",
       "choose a number from 1 to 100000"},
  };
  for (const Refusal& wrong : all) expect_refused(wrong);
}

TEST(ParseExperiment, RefusesWrongJobs) {
  const std::string stages = R"("stages": [{"seconds": 1}])";
  const std::string write = R"(give "stages": [{"name": "build", "pool": "host", "seconds": 8.3}])";
  const std::vector<Refusal> all{
      {with_job(""), "job 'job' of the plan has no stages", write},
      {with_job(R"("name": "x", "stages": [])"), "job 'x' of the plan has no stages", write},
      {with_job(R"("stages": 7)"), "'stages' is not a list in the plan",
       R"(write [{"name": "build", "pool": "host", "seconds": 8.3}])"},
      {with_job(R"("opening": {}, )" + stages), "'opening' is not a list in the plan",
       R"(write [{"name": "build", "pool": "host", "seconds": 8.3}])"},
      {with_job(R"("name": "x", "bathces": 3, )" + stages),
       "job 'x' of the plan has no key 'bathces'",
       "did you mean 'batches'? its keys are name, count, user, priority, submit_at, batches, "
       "prefetch, opening, stages, closing"},
      {with_job(R"("name": 3, )" + stages), "'name' is not a text in the plan",
       "write it in double quotes"},
      {with_job(R"("batches": 2.7, )" + stages),
       "'batches' is 2.7 in the plan, which is not a whole number",
       "choose a whole number from 1 to 1000000"},
      {with_job(R"("prefetch": 0, )" + stages), "'prefetch' is 0 in the plan",
       "choose a number from 1 to 1000"},
      {with_job(R"("priority": "high", )" + stages), "'priority' is not a number in the plan",
       "write it as 1.5"},
      {with_job(R"("submit_at": -1, )" + stages), "'submit_at' is -1 in the plan",
       "choose a number from 0 to 1000000000"},
      {with_job(R"("count": 1.5, )" + stages),
       "'count' is 1.5 in the plan, which is not a whole number",
       "choose a whole number from 1 to 100000"},
      {with_job(R"("count": 100000, "batches": 1000000, )" + stages),
       "100000000000 stages of 100000 jobs are more than a simulation takes, 200000 of so many",
       "choose fewer jobs or batches"},
  };
  for (const Refusal& wrong : all) expect_refused(wrong);
}

TEST(ParseExperiment, RefusesWrongStages) {
  const std::string seconds = "give a mean such as 8.3, or a list of times";
  const std::vector<Refusal> all{
      {with_job(R"("stages": [3])"), "a stage of the plan is not an object",
       R"(write it as {"name": "build", "pool": "host", "seconds": 8.3})"},
      {with_stage(R"("name": "build")"), "stage 'build' of the plan has no 'seconds'", seconds},
      {with_stage(R"("seconds": [])"), "stage 'stage' of the plan has no 'seconds'", seconds},
      {with_stage(R"("seconds": [1, -1])"), "stage 'stage' of the plan has no 'seconds'", seconds},
      {with_stage(R"("seconds": "1")"), "stage 'stage' of the plan has no 'seconds'", seconds},
      {with_stage(R"("second": 3)"), "stage 'stage' of the plan has no key 'second'",
       "did you mean 'seconds'? its keys are name, pool, amount, seconds"},
      {with_stage(R"("pool": "cloud", "seconds": 1)"), "there is no pool 'cloud'",
       "pools are host, device"},
      {with_stage(R"("amount": 3, "seconds": 1)"), "'amount' is 3 in the plan",
       "choose a number from 1 to 2"},
      {R"({"pools": {"gpu": 1}, "jobs": [{"stages": [{"name": "profile", "seconds": 1}]}]})",
       "there is no pool 'device'", "pools are gpu"},
      {with_stage(R"("seconds": 0)"), "the stages of job 'job' take no time",
       "give one of them more than 0 seconds"},
      {with_job(R"("batches": 2, "stages": [{"seconds": [0, 0, 5]}])"),
       "the stages of job 'job' take no time", "give one of them more than 0 seconds"},
  };
  for (const Refusal& wrong : all) expect_refused(wrong);
}

TEST(AddJobs, TakesTenMillionStagesButNotOfTenThousandJobs) {
  Experiment experiment{{{"host", 1}, {"device", 1}}, {}, 0, 0};
  MockJob job{.name = "job", .batches = 1'000'000};
  job.stages = *parse_stages("build=1", experiment.pools);
  EXPECT_TRUE(add_jobs(experiment, job, 10).ok());
  EXPECT_EQ(add_jobs(experiment, job, 11).error().message,
            "21000000 stages of 21 jobs are more than a simulation takes, 20000000 of so many");
  job.batches = 1;
  EXPECT_EQ(add_jobs(experiment, job, 9'990).error().message,
            "10009990 stages of 10000 jobs are more than a simulation takes, 2000000 of so many");
  EXPECT_EQ(experiment.jobs.size(), 10u);
}

TEST(ParseStages, NamesPoolsAndRefusesNonsense) {
  const std::vector<Pool> pools{{"device", 1}, {"host", 1}};
  const auto stages = parse_stages("build=8.3,profile=39.5,race@device=0", pools);
  ASSERT_TRUE(stages.ok()) << stages.error().message;
  EXPECT_EQ((*stages)[0].pool, 1u);
  EXPECT_EQ((*stages)[1].pool, 0u);
  EXPECT_EQ((*stages)[2].pool, 0u);
  EXPECT_EQ((*stages)[2].name, "race");
  for (const std::string text :
       {"build", "build=", "build=x", "=3", "@host=3", "build=1e99", "build=nan", "build=3x"}) {
    EXPECT_EQ(parse_stages(text, pools).error().message,
              fmt::format("stage '{}' is not NAME=SECONDS", text));
  }
  EXPECT_EQ(parse_stages("", pools).error().message, "no stages are given");
}

}  // namespace
}  // namespace attune::jobs
