#include "tuner/whole_model/contest/model_contest.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "compiler/model/kernel_store.h"
#include "runtime/format/artifact.h"
#include "tuner/whole_model/contest/kernel_times.h"
#include "tuner/whole_model/contest/launch_ways.h"
#include "tuner/whole_model/contest/model_variants.h"
#include "tuner/whole_model/contest/race.h"
#include "tuner/whole_model/report/model_teller.h"
#include "tuner/whole_model/tuning_resources.h"

namespace attune::whole_model {
namespace {

bool same_schedules(const std::vector<model::Schedule>& one,
                    const std::vector<model::Schedule>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const model::Schedule& a, const model::Schedule& b) {
                      return schedule::hash(a.trace) == schedule::hash(b.trace);
                    });
}

Status move_file(const std::string& from, const std::string& to) {
  std::error_code failure;
  std::filesystem::rename(from, to, failure);
  if (!failure) return {};
  return Error{ErrorCode::Io, fmt::format("cannot write '{}': {}", to, failure.message()),
               "name another file with -o"};
}

}  // namespace

ModelContest::ModelContest(const model::ModelTasks& tasks, model::CompileOptions compile,
                           std::string output, const model::ReadInputs& inputs,
                           TuningResources& resources, ModelTeller& teller)
    : tasks_(tasks),
      compile_(std::move(compile)),
      output_(std::move(output)),
      inputs_(inputs),
      resources_(resources),
      teller_(teller),
      start_ns_(resources.clock().now_ns()),
      untuned_(fmt::format("{}.{}.untuned", output_, getpid())),
      kept_(fmt::format("{}.{}.kept", output_, getpid())) {
  compile_.kernels = std::make_shared<model::KernelStore>(compile_.target);
}

Status ModelContest::compile_stage(const std::function<Status()>& work) {
  return resources_.run_stage("compile", session::Resource::HostCores,
                              [&] { return teller_.whole_stage("compile", work); });
}

Status ModelContest::device_stage(const char* kind, const std::function<Status()>& work) {
  return resources_.run_stage(kind, session::Resource::Device, [&] {
    const std::int64_t start = resources_.clock().now_ns();
    const Status status = teller_.whole_stage(kind, work);
    device_seconds_ += seconds_between(start, resources_.clock().now_ns());
    return status;
  });
}

Status ModelContest::write_untuned() {
  return teller_.whole_stage("compile", [&]() -> Status {
    const std::int64_t start = resources_.clock().now_ns();
    ATTUNE_ASSIGN(model::CompiledModel untuned,
                  model::compile_tasks(tasks_, untuned_schedules(), compile_));
    ATTUNE_RETURN_IF_ERROR(model::write(untuned, untuned_.path()));
    untuned_fallbacks_ = std::move(untuned.fallbacks);
    compile_seconds_ = seconds_between(start, resources_.clock().now_ns());
    untuned_written_ = true;
    return {};
  });
}

void ModelContest::set_known(std::vector<model::Schedule> schedules) {
  known_ = std::move(schedules);
  known_differs_ = !same_schedules(known_, untuned_schedules());
}

std::vector<model::Schedule> ModelContest::untuned_schedules() const {
  std::vector<model::Schedule> schedules;
  for (const graph::Task& task : tasks_.distinct) schedules.push_back(compile_.default_of(task));
  return schedules;
}

Status ModelContest::keep(Entry entry) {
  if (entry.path != kept_.path()) {
    ATTUNE_RETURN_IF_ERROR(move_file(entry.path, kept_.path()));
    entry.path = kept_.path();
  }
  best_ = std::move(entry);
  return {};
}

Status ModelContest::keep_known() {
  return compile_stage([&]() -> Status {
    ModelVariants variants(tasks_, compile_, output_);
    for (const model::Schedule& schedule : known_) variants.add_task({schedule});
    ATTUNE_RETURN_IF_ERROR(variants.write(0));
    return keep({variants.paths()[0], Kept::Known, variants.fallbacks(0)});
  });
}

Status ModelContest::race_known() {
  if (!has_untuned()) {
    ATTUNE_RETURN_IF_ERROR(resources_.run_stage("compile", session::Resource::HostCores,
                                                [&] { return write_untuned(); }));
  }
  if (is_known_due()) ATTUNE_RETURN_IF_ERROR(keep_known());
  const double seconds = best_ ? 2 : 1;
  return race_all({}, {.seconds = seconds, .open_seconds = 2 * seconds});
}

Status ModelContest::race_tuned(std::vector<std::vector<model::Schedule>> schedules,
                                double promised, const std::function<std::size_t()>& affordable) {
  std::vector<model::Schedule> first;
  for (const auto& each : schedules) first.push_back(each.front());
  const bool as_known = known_differs_ && same_schedules(first, known_);
  if (is_known_due() && !as_known) ATTUNE_RETURN_IF_ERROR(keep_known());
  ModelVariants variants(tasks_, compile_, output_);
  for (auto& each : schedules) variants.add_task(std::move(each));
  ATTUNE_RETURN_IF_ERROR(compile_stage([&] { return variants.write(0); }));
  const std::int64_t changed =
      choose_inside(variants, std::min(affordable(), variants.most_artifacts()));
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < variants.paths().size(); ++i) {
    const Kept kind = i == 0 && as_known ? Kept::Known : Kept::Tuned;
    entries.push_back({variants.paths()[i], kind, variants.fallbacks(i), i == 0 ? 0 : changed});
  }
  const double tuning = seconds_between(start_ns_, resources_.clock().now_ns());
  RaceOptions options = race_behind(tuning);
  options.promised = promised;
  ATTUNE_RETURN_IF_ERROR(race_all(std::move(entries), options));
  return overlap_launches();
}

// The fastest with its launches overlapping, where that gains, takes part in one more race.
Status ModelContest::overlap_launches() {
  if (overlap_seconds() == 0) return {};
  const TemporaryFile file(fmt::format("{}.{}.overlapped", output_, getpid()));
  Entry entry =
      best_ && !untuned_wins_ ? *best_ : Entry{untuned_.path(), Kept::Default, untuned_fallbacks_};
  ArtifactWays found;
  ATTUNE_RETURN_IF_ERROR(device_stage("ways", [&]() -> Status {
    ATTUNE_ASSIGN(found, choose_ways(entry.path, inputs_, kOverlapSeconds));
    return {};
  }));
  if (found.ways.empty()) return {};
  ATTUNE_RETURN_IF_ERROR(write_with_ways(entry.path, found.ways, file.path()));
  entry.path = file.path();
  const double seconds = RaceOptions{}.seconds / 2;
  return race_all({std::move(entry)}, {.seconds = seconds, .open_seconds = 2 * seconds});
}

// Times schedules of all tasks inside the model. When that says that others than the first are
// better there, the model that has them becomes the last artifact; for how many tasks that is.
std::int64_t ModelContest::choose_inside(ModelVariants& variants, std::size_t count) {
  if (count < 2) return 0;
  const std::int64_t start = resources_.clock().now_ns();
  std::vector<std::size_t> fastest;
  Status done = compile_stage([&] { return variants.write_others(count); });
  if (done.ok()) {
    done = device_stage("inside", [&]() -> Status {
      ATTUNE_ASSIGN(const auto times,
                    time_kernels(variants.paths(), inputs_, {.seconds = kVariantSeconds}));
      fastest = fastest_artifacts(times);
      return {};
    });
  }
  variants.forget_others();
  const auto others = std::count_if(fastest.begin(), fastest.end(), [](auto i) { return i > 0; });
  if (done.ok() && others > 0) {
    done = compile_stage([&] { return variants.write_mixed(fastest); });
  }
  // A full disk, say, does not cost what was tuned: the first artifact is what there is.
  inside_failure_ = done.ok() ? "" : done.error().message;
  inside_seconds_ += seconds_between(start, resources_.clock().now_ns());
  return others;
}

// These, the untuned one, and the best before them.
Status ModelContest::race_all(std::vector<Entry> entries, const RaceOptions& options) {
  if (best_) entries.insert(entries.begin(), *best_);
  std::vector<std::string> paths{untuned_.path()};
  for (const Entry& entry : entries) paths.push_back(entry.path);
  RaceResult result;
  ATTUNE_RETURN_IF_ERROR(device_stage("race", [&]() -> Status {
    ATTUNE_ASSIGN(result, race(paths, inputs_, options));
    return {};
  }));
  untuned_ms_ = result.latency_ms[0];
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].latency_ms = result.latency_ms[i + 1];
    if (entries[i].kind == Kept::Known) known_ms_ = result.latency_ms[i + 1];
  }
  untuned_wins_ = result.winner == 0;
  if (entries.empty()) return {};
  // The fastest of the others stays in the race, should there be another.
  const auto fastest = untuned_wins_
                           ? std::min_element(entries.begin(), entries.end(),
                                              [](const Entry& a, const Entry& b) {
                                                return a.latency_ms < b.latency_ms;
                                              })
                           : entries.begin() + static_cast<std::ptrdiff_t>(result.winner - 1);
  return keep(std::move(*fastest));
}

double ModelContest::overlap_seconds() const {
  return leaves_choice(compile_.target.kind) ? kOverlapSeconds : 0;
}

double ModelContest::best_ms() const { return untuned_wins_ ? untuned_ms_ : best_->latency_ms; }

Status ModelContest::deliver(TuneReport& report, const runtime::SignBytes& sign) {
  const bool untuned = untuned_wins_;
  report.default_latency_ms = untuned_ms_;
  report.known_latency_ms = known_ms_;
  report.latency_ms = best_ms();
  report.kept = untuned ? Kept::Default : best_->kind;
  report.raced = best_.has_value();
  report.changed_inside = untuned ? 0 : best_->changed_inside;
  report.inside_failure = inside_failure_;
  report.fallbacks = untuned ? untuned_fallbacks_ : best_->fallbacks;
  const std::string& made = untuned ? untuned_.path() : kept_.path();
  if (sign) ATTUNE_RETURN_IF_ERROR(runtime::sign_artifact(made, sign));
  ATTUNE_RETURN_IF_ERROR(move_file(made, output_));
  report.output = output_;
  return {};
}

}  // namespace attune::whole_model
