#include "tuner/whole_model/layout_trials.h"

#include <array>
#include <utility>

#include "base/clock.h"
#include "base/version.h"
#include "tuner/records/record_json.h"
#include "tuner/whole_model/tuning_resources.h"

namespace attune::whole_model {
namespace {

constexpr std::uint64_t kSeed = 1;  // of the inputs

double tolerance_of(const graph::Task& task, const std::string& algorithm) {
  for (const ops::AlgorithmDef& other : task.op.alternatives) {
    if (other.name == algorithm) return other.tolerance;
  }
  return task.op.tolerance;
}

}  // namespace

LayoutTrials::LayoutTrials(const model::LoadedModel& model, bool use_records, records::Store& store,
                           TuningResources& resources)
    : model_(model), use_records_(use_records), store_(store), resources_(resources) {}

model::Schedule LayoutTrials::schedule_of(const graph::Task& task) const {
  model::Schedule schedule = model_.default_of(task);
  if (const auto known = known_us_.find(task.key); known != known_us_.end()) {
    schedule.measured_us = known->second;
  }
  return schedule;
}

Status LayoutTrials::time(const std::vector<graph::Task>& tasks) {
  std::vector<const graph::Task*> unknown;
  std::vector<model::Schedule> schedules;
  std::vector<measure::BuildRequest> requests;
  for (const graph::Task& task : tasks) {
    if (use_records_) {
      auto best = store_.best({.task_key = task.key,
                               .target = model_.target_text(),
                               .weights = model::weights_of(task, model_.cold_weights)});
      if (!best.ok()) return best.error();
      const auto us = *best ? records::competing_time_us((*best)->outcome) : std::nullopt;
      if (us) {
        known_us_[task.key] = *us;
        continue;
      }
    }
    schedules.push_back(model_.default_of(task));
    const ir::Program* program = model::program_of(task, schedules.back().algorithm);
    requests.push_back(
        {.candidate = {.trace = schedules.back().trace, .number = std::ssize(requests)},
         .program = std::make_shared<ir::Program>(*program)});
    unknown.push_back(&task);
  }
  if (unknown.empty()) return {};
  const std::vector<measure::BuiltCandidate> built = resources_.builder().build(requests);
  std::vector<measure::Expectation> expected(unknown.size());
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    if (built[i].failure) continue;
    ATTUNE_ASSIGN(expected[i], resources_.builder().expect(unknown[i]->op.program, kSeed));
  }
  return resources_.run_stage("layouts", session::Resource::Device, [&]() -> Status {
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      if (built[i].failure) continue;
      ATTUNE_RETURN_IF_ERROR(time_one(*unknown[i], schedules[i], built[i], expected[i]));
    }
    return {};
  });
}

Status LayoutTrials::time_one(const graph::Task& task, const model::Schedule& schedule,
                              const measure::BuiltCandidate& built,
                              const measure::Expectation& expectation) {
  const double tolerance = tolerance_of(task, schedule.algorithm) * expectation.magnitude;
  // Twice: one disturbed timing would decide for the whole model.
  const std::array requests{measure::RunRequest{&built, tolerance},
                            measure::RunRequest{&built, tolerance}};
  measure::RunOptions how;
  how.weights = model::weights_of(task, model_.cold_weights);
  auto results = resources_.runner().measure(requests, expectation, how);
  if (!results.ok()) return results.error();
  const measure::RunResult* best = nullptr;
  double least = 0;
  for (const measure::RunResult& result : *results) {
    const auto* timing = std::get_if<outcome::Timing>(&result.outcome);
    if (timing == nullptr || !timing->verified) return {};
    if (best == nullptr || timing->best_us < least) best = &result, least = timing->best_us;
  }
  const measure::RunResult& result = *best;
  records::Record record;
  record.task_key = task.key;
  record.task_name = task.name;
  record.target = model_.target_text();
  record.trace = schedule::to_string(schedule.trace);
  record.trace_hash = schedule::hash(schedule.trace);
  record.outcome = result.outcome;
  record.weights = how.weights;
  record.stages = {built.build_ms, result.run_ms, result.wait_ms};
  record.product_version = version();
  record.device = resources_.runner().device();
  record.noise = result.noise;
  record.verified = true;
  record.created_at_ms = unix_time_ms();
  if (const auto us = records::competing_time_us(record.outcome)) known_us_[task.key] = *us;
  auto added = store_.add({&record, 1});
  return added.ok() ? Status() : added.error();
}

}  // namespace attune::whole_model
