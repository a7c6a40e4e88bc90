#include "fleet/client/messages.h"

#include "base/check.h"

namespace attune::client {
namespace {

struct StateName {
  v1::JobState message;
  JobState state;
  std::string_view name;
};
constexpr StateName kStates[] = {
    {v1::QUEUED, JobState::Queued, "queued"},
    {v1::RUNNING, JobState::Running, "running"},
    {v1::WAITING, JobState::Waiting, "waiting"},
    {v1::PAUSED, JobState::Paused, "paused"},
    {v1::DONE, JobState::Done, "done"},
    {v1::STOPPED, JobState::Stopped, "stopped"},
    {v1::CANCELLED, JobState::Cancelled, "cancelled"},
    {v1::FAILED, JobState::Failed, "failed"},
};

// 0 stands for what is not known.
std::optional<double> known(double value) {
  return value > 0 ? std::optional<double>(value) : std::nullopt;
}

std::vector<StageStatus> stages_of(const v1::Job& job) {
  std::vector<StageStatus> stages;
  for (int i = 0; i < job.kinds_size(); ++i) {
    const v1::StageKind& kind = job.kinds(i);
    StageStatus stage{.name = kind.name(),
                      .pool = kind.pool(),
                      .amount = kind.amount(),
                      .usual_seconds = known(kind.usual_seconds())};
    if (i < job.stages_done_size()) stage.done = job.stages_done(i);
    if (kind.left() >= 0) stage.left = kind.left();
    stages.push_back(std::move(stage));
  }
  return stages;
}

}  // namespace

std::string_view to_string(JobState state) {
  for (const StateName& entry : kStates) {
    if (entry.state == state) return entry.name;
  }
  return "unknown";
}

bool has_ended(JobState state) {
  return state == JobState::Done || state == JobState::Stopped || state == JobState::Cancelled ||
         state == JobState::Failed;
}

v1::JobSpec to_message(const JobRequest& request) {
  v1::JobSpec spec;
  spec.set_name(request.name);
  spec.set_user(request.user);
  spec.set_priority(request.priority);
  spec.set_model(request.model);
  spec.set_device(request.device);
  spec.set_threads(request.threads);
  spec.set_trials(request.trials);
  spec.set_seconds(request.seconds);
  spec.set_until_latency_ms(request.until_latency_ms);
  spec.set_prefetch(request.prefetch);
  spec.set_in_turn(request.in_turn);
  spec.set_seed(request.seed);
  spec.set_output(request.output);
  spec.set_options_json(request.options_json);
  spec.set_files(request.files);
  spec.set_no_wait(request.no_wait);
  return spec;
}

JobRequest from_message(const v1::JobSpec& spec) {
  return {.name = spec.name(),
          .user = spec.user(),
          .priority = spec.priority(),
          .model = spec.model(),
          .device = spec.device(),
          .threads = spec.threads(),
          .trials = spec.trials(),
          .seconds = spec.seconds(),
          .until_latency_ms = spec.until_latency_ms(),
          .prefetch = spec.prefetch(),
          .in_turn = spec.in_turn(),
          .seed = spec.seed(),
          .output = spec.output(),
          .options_json = spec.options_json(),
          .files = spec.files(),
          .no_wait = spec.no_wait()};
}

JobStatus from_message(const v1::Job& job) {
  JobStatus status{.id = job.id(), .uid = job.uid(), .request = from_message(job.spec())};
  for (const StateName& entry : kStates) {
    if (entry.message == job.state()) status.state = entry.state;
  }
  status.reason = job.reason();
  status.waiting_for = job.waiting_for();
  status.queue_position = job.queue_position();
  status.predicted_end = job.predicted_end();
  status.submitted_at = job.submitted_at();
  status.started_at = job.started_at();
  status.ended_at = job.ended_at();
  status.trials = job.trials();
  status.best_ms = known(job.best_ms());
  status.default_ms = known(job.default_ms());
  status.epoch = job.epoch();
  status.worker = job.worker();
  status.result_json = job.result_json();
  status.stages = stages_of(job);
  status.attained_seconds = job.attained_seconds();
  const v1::Strikes& strikes = job.strikes();
  status.trouble = strikes.last();
  for (const std::int64_t count :
       {strikes.crashed(), strikes.killed(), strikes.starved(), strikes.stuck()}) {
    status.strikes += count;
  }
  return status;
}

Overview from_message(const v1::Snapshot& snapshot) {
  Overview overview{
      .policy = snapshot.policy(), .now = snapshot.now(), .cores_kept = snapshot.cores_kept()};
  for (const v1::Job& job : snapshot.jobs()) overview.jobs.push_back(from_message(job));
  for (const v1::PoolState& pool : snapshot.pools()) {
    overview.pools.push_back(
        {pool.name(), pool.capacity(), pool.used(), pool.utilisation(), pool.cores()});
  }
  for (const v1::Bar& bar : snapshot.bars()) {
    overview.bars.push_back({bar.job(),
                             bar.kind(),
                             bar.pool(),
                             {bar.slots().begin(), bar.slots().end()},
                             bar.ready_at(),
                             bar.started_at(),
                             bar.ended_at()});
  }
  overview.device_keys.assign(snapshot.device_keys().begin(), snapshot.device_keys().end());
  return overview;
}

v1::Wish to_message(Wish wish) {
  switch (wish) {
    case Wish::Pause:
      return v1::PAUSE;
    case Wish::Resume:
      return v1::RESUME;
    case Wish::Stop:
      return v1::STOP;
    case Wish::Cancel:
      return v1::CANCEL;
  }
  CHECK(false, "a wish that does not exist");
  return v1::PAUSE;
}

}  // namespace attune::client
