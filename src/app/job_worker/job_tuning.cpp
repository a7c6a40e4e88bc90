#include "app/job_worker/job_tuning.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "app/job_worker/job_files.h"
#include "app/job_worker/job_folder.h"
#include "app/verbs/compile.h"
#include "app/verbs/jobs/job_options.h"
#include "base/atomic_file.h"
#include "fleet/wire/state_directory.h"
#include "runtime/execution/usable_cores.h"
#include "tuner/records/merge.h"
#include "tuner/whole_model/contest/race.h"
#include "tuner/whole_model/known_answer.h"
#include "tuner/whole_model/tune.h"
#include "tuner/whole_model/tuned_model.h"

namespace attune::job_worker {
namespace {

using session::Resource;

// Of a round, for predictions before its like was seen.
constexpr double kRoundTrials = whole_model::kModelBatch;
// What is left of a budget of seconds that an earlier worker used up.
constexpr double kLeastSeconds = 1;

// What this process makes for its user has the rights that the user's files have; all else is
// private.
class UsersRights {
 public:
  explicit UsersRights(mode_t umask) : before_(::umask(umask)) {}
  ~UsersRights() { ::umask(before_); }
  UsersRights(const UsersRights&) = delete;
  UsersRights& operator=(const UsersRights&) = delete;

 private:
  mode_t before_;
};

// Where a job finds what it needs, and where what it made goes.
struct Places {
  std::string model = {};  // what to tune: a name or a path
  verbs::JobOptions options = {};
  std::string store = {};   // of records that are known before; the user's where it has paths
  bool is_fetched = false;  // results stay in the job's folder
  mode_t users_umask = 022;
};

class JobTuning {
 public:
  JobTuning(const client::JobStatus& job, const worker::Devices& devices, int batches,
            Places places, const JobFolder& folder, worker::Link& link, RemoteAdmission& admission,
            const JobWishes& wishes)
      : job_(job),
        devices_(devices),
        places_(std::move(places)),
        options_(places_.options),
        folder_(folder),
        link_(link),
        admission_(admission),
        wishes_(wishes),
        holding_{job.id, job.epoch},
        resources_(admission, wishes, batches, [this](std::size_t tasks) { say_tasks(tasks); }) {}

  Result<whole_model::TuneReport> run() {
    ATTUNE_RETURN_IF_ERROR(find_threads());
    ATTUNE_ASSIGN(const whole_model::TuneOptions how, tune_options());
    ATTUNE_ASSIGN(whole_model::TunedModel tuned, load(how));
    contest_ = tuned.model.facts.contest;
    ATTUNE_ASSIGN(std::optional<whole_model::TuneReport> known, look_up(tuned, how.model));
    if (known) return std::move(*known);
    ATTUNE_ASSIGN(whole_model::TuneReport report,
                  whole_model::tune(
                      std::move(tuned), how,
                      [this](const whole_model::TuneProgress& progress) { say_progress(progress); },
                      wishes_.dropped, resources_));
    report.records = places_.is_fetched ? "" : store_;
    report.stopped = wishes_.enough;
    return report;
  }

  // What the job was submitted for: an artifact where it was asked for.
  Status deliver(whole_model::TuneReport& report) const {
    if (job_.request.output.empty() || report.output.empty()) return {};
    report.output = job_.request.output;
    if (places_.is_fetched) return {};
    const UsersRights rights(places_.users_umask);
    Result<AtomicFile> output = AtomicFile::create(job_.request.output);
    if (!output.ok()) {
      Error error = output.error();
      error.hint = fmt::format("the artifact is kept as '{}', its schedules are in the records",
                               folder_.artifact());
      return error;
    }
    ATTUNE_RETURN_IF_ERROR(output->take(folder_.artifact()));
    return output->commit();
  }
  // Records are brought to the user, who fetches them where they have none here.
  Status merge_records() const {
    if (places_.is_fetched) return {};
    const UsersRights rights(places_.users_umask);
    return records::merge_stores(folder_.records(), store_);
  }

 private:
  // As many as the device has, unless the job says; the device is asked only where the scheduler
  // does not know it.
  Status find_threads() {
    threads_ = job_.request.threads > 0 ? job_.request.threads : devices_.cores;
    if (threads_ > 0) return {};
    return resources_.run_stage("peak", Resource::Device, [&] {
      threads_ = static_cast<int>(runtime::usable_cores().size());
      return Status();
    });
  }

  Result<model::ModelOptions> model_options() const {
    model::ModelOptions model{.model = places_.model,
                              .target = options_.target,
                              .threads = threads_,
                              .exact = options_.exact,
                              .precision = options_.precision};
    for (const std::string& text : options_.shapes) {
      ATTUNE_ASSIGN(auto shape, model::parse_shape(text));
      model.shapes.insert(std::move(shape));
    }
    for (const std::string& text : options_.constants) {
      ATTUNE_ASSIGN(auto constant, model::parse_constant(text));
      model.constants.insert(std::move(constant));
    }
    for (const std::string& text : options_.maxima) {
      ATTUNE_ASSIGN(auto maximum, model::parse_maximum(text));
      model.maxima.insert(std::move(maximum));
    }
    return model;
  }

  Result<whole_model::TuneOptions> tune_options() const {
    whole_model::TuneOptions tune;
    ATTUNE_ASSIGN(tune.model, model_options());
    tune.inputs = options_.inputs;
    if (!job_.request.output.empty()) tune.output = folder_.artifact();
    tune.records = folder_.records();
    // The user's store teaches as it does where it is tuned into.
    tune.history = options_.history;
    if (tune.history.empty() && std::filesystem::exists(store_)) tune.history = store_;
    tune.resume = true;
    tune.seed = job_.request.seed;
    const client::JobRequest& request = job_.request;
    if (request.trials > 0) tune.trials = request.trials;
    if (request.seconds > 0) {
      tune.seconds = std::max(request.seconds - job_.attained_seconds, kLeastSeconds);
    }
    if (request.until_latency_ms > 0) tune.until_latency_ms = request.until_latency_ms;
    return tune;
  }

  // Once for all. A goal without an artifact may be known to be met: then nothing is asked of the
  // machine.
  Result<whole_model::TunedModel> load(const whole_model::TuneOptions& how) {
    const bool may_be_known = how.until_latency_ms && how.output.empty();
    if (may_be_known) return whole_model::load_tuned_model(how, resources_.clock());
    return whole_model::load_tuned_model(how, resources_);
  }

  // What meets the goal already needs no tuning.
  Result<std::optional<whole_model::TuneReport>> look_up(const whole_model::TunedModel& tuned,
                                                         const model::ModelOptions& model) {
    const double goal_ms = job_.request.until_latency_ms;
    const model::ScheduleOptions records{.records = store_, .history = options_.history};
    std::optional<whole_model::TuneReport> none;
    if (goal_ms <= 0 || options_.history == "none") return none;
    if (!contest_) return whole_model::known_answer(tuned.model, model, records, goal_ms);
    if (options_.history.empty() && !std::filesystem::exists(store_)) return none;
    whole_model::TuneReport report{.threads = threads_, .records = store_};
    report.until_latency_ms = goal_ms;
    ATTUNE_RETURN_IF_ERROR(race_known(tuned, {.model = model, .schedule = records}, report));
    if (!report.reached()) return none;
    return std::optional(std::move(report));
  }

  // As it would be compiled now. Nothing is timed on the cores of the host: the scheduler has the
  // device.
  Status race_known(const whole_model::TunedModel& tuned, model::SourceOptions source,
                    whole_model::TuneReport& report) {
    const verbs::CompileOptions compile{
        .source = std::move(source), .output = folder_.artifact(), .look = false};
    ATTUNE_RETURN_IF_ERROR(resources_.run_stage("compile", Resource::HostCores, [&]() -> Status {
      ATTUNE_ASSIGN(const verbs::CompileReport compiled, verbs::compile(tuned.model, compile));
      report.fallbacks = compiled.fallbacks;
      return {};
    }));
    return resources_.run_stage("race", Resource::Device, [&]() -> Status {
      ATTUNE_ASSIGN(const whole_model::RaceResult result,
                    whole_model::race({folder_.artifact()}, tuned.inputs, {.seconds = 1}));
      report.latency_ms = result.latency_ms.front();
      report.output = folder_.artifact();
      return {};
    });
  }

  void say_progress(const whole_model::TuneProgress& progress) {
    if (progress.of_whole) return;
    const auto ran = [](const whole_model::TaskProgress& task) { return task.best_us.has_value(); };
    const bool all_ran = std::all_of(progress.tasks.begin(), progress.tasks.end(), ran);
    link_.progressed(holding_, progress.trials, all_ran ? progress.latency_ms : 0, 0);
    if (progress.stage == session::name_of(session::StageKind::Update)) ++rounds_;
    StagesLeft left{.unnamed = static_cast<double>(progress.tasks.size()),
                    .compiles = contest_ ? 1.0 : 0.0};
    const std::optional<double> rounds = rounds_left(progress);
    if (!rounds) return;
    left.batches = batches_of(*rounds);
    admission_.say_left(left);
  }

  // Nothing while that is not known.
  std::optional<double> rounds_left(const whole_model::TuneProgress& progress) const {
    if (progress.closing) return 0;
    if (job_.request.trials > 0) {
      double rounds = 0;
      for (const whole_model::TaskProgress& task : progress.tasks) {
        rounds += task.settled ? 0 : rounds_of(job_.request.trials - task.trials);
      }
      return rounds;
    }
    if (rounds_ == 0 || !progress.left_seconds || progress.elapsed_seconds <= 0) return {};
    return *progress.left_seconds * rounds_ / progress.elapsed_seconds;
  }

  static double rounds_of(std::int64_t trials) {
    return std::ceil(std::max(static_cast<double>(trials), 0.0) / kRoundTrials);
  }

  // Rounds of a task alone come one by one.
  double batches_of(double rounds) const {
    return std::ceil(contest_ ? rounds / kRoundsOfBatch : rounds);
  }

  // Before anything was seen of them.
  void say_tasks(std::size_t count) {
    if (job_.request.trials <= 0) return;
    const auto tasks = static_cast<double>(count);
    admission_.say_left({.beginnings = batches_of(tasks),
                         .batches = batches_of(tasks * rounds_of(job_.request.trials)),
                         .unnamed = tasks,
                         .compiles = contest_ ? 1.0 : 0.0});
  }

  const client::JobStatus& job_;
  worker::Devices devices_;
  const Places places_;
  const verbs::JobOptions& options_;
  const JobFolder& folder_;
  worker::Link& link_;
  RemoteAdmission& admission_;
  const JobWishes& wishes_;
  worker::Holding holding_;
  JobResources resources_;
  const std::string& store_ = places_.store;
  int threads_ = 0;
  bool contest_ = false;  // of artifacts, in the end
  double rounds_ = 0;     // that ended
};

std::string sentence(const Error& error) {
  return error.hint.empty() ? error.message : fmt::format("{}; {}", error.message, error.hint);
}

Result<Places> places_of(const client::JobStatus& job, const std::string& path,
                         const JobFolder& folder, mode_t users_umask) {
  const JobFiles files(job, path);
  Places places{.is_fetched = files.are_sent(), .users_umask = users_umask};
  ATTUNE_ASSIGN(verbs::JobOptions named, verbs::parse_job_options(job.request.options_json));
  ATTUNE_ASSIGN(places.options, files.options(std::move(named)));
  ATTUNE_ASSIGN(places.model, files.model(job.request.model));
  if (places.is_fetched) {
    places.store = folder.records();
  } else {
    ATTUNE_ASSIGN(places.store, model::records_path(places.options.records));
  }
  return places;
}

// Records are brought to the user first of all: what follows may fail.
Result<JobReport> tuned(const client::JobStatus& job, const worker::Devices& devices, Places places,
                        const JobFolder& folder, worker::Link& link, RemoteAdmission& admission,
                        const JobWishes& wishes) {
  ATTUNE_ASSIGN(const int batches,
                folder.chosen("batches", batches_in_flight(job.request, devices)));
  JobTuning tuning(job, devices, batches, std::move(places), folder, link, admission, wishes);
  Result<whole_model::TuneReport> made = tuning.run();
  if (wishes.dropped) return Error{ErrorCode::Exhausted, "stopped before its end", {}};
  const Status merged = tuning.merge_records();
  if (!made.ok()) return made.error();
  ATTUNE_RETURN_IF_ERROR(merged);
  ATTUNE_RETURN_IF_ERROR(tuning.deliver(*made));
  std::int64_t trials = 0;
  for (const whole_model::TunedTask& task : made->tasks) trials += task.trials;
  link.progressed({job.id, job.epoch}, trials, made->latency_ms.value_or(0),
                  made->default_latency_ms.value_or(0));
  JobReport report{.json = to_json(*made), .stopped = made->stopped};
  ATTUNE_RETURN_IF_ERROR(folder.keep_report(report));
  return report;
}

}  // namespace

JobEnd tune_job(const client::JobStatus& job, const worker::Devices& devices,
                const std::string& state, mode_t users_umask, worker::Link& link,
                RemoteAdmission& admission, const JobWishes& wishes) {
  const auto failed = [](const Error& error) {
    return JobEnd{.state = client::JobState::Failed, .reason = sentence(error)};
  };
  const std::string path = wire::job_path(state, job.id);
  const auto folder = JobFolder::open(path, wishes.dropped);
  if (wishes.dropped) return {.state = client::JobState::Cancelled};
  if (!folder.ok()) return failed(folder.error());
  if (const auto* taken = std::get_if<JobFolder::Taken>(&*folder)) {
    return {.state = client::JobState::Queued,
            .reason = fmt::format("{} still has its folder '{}', although it lost the job; end it "
                                  "if it does not go on",
                                  taken->by, path)};
  }
  const JobFolder& own = std::get<JobFolder>(*folder);
  Result<JobReport> report = Error{};
  if (std::optional<JobReport> before = own.report()) {
    report = std::move(*before);
  } else {
    Result<Places> places = places_of(job, path, own, users_umask);
    if (!places.ok()) return failed(places.error());
    report = tuned(job, devices, std::move(*places), own, link, admission, wishes);
  }
  if (wishes.dropped) return {.state = client::JobState::Cancelled};
  if (!report.ok()) return failed(report.error());
  return {.state = report->stopped ? client::JobState::Stopped : client::JobState::Done,
          .report = std::move(report->json)};
}

}  // namespace attune::job_worker
