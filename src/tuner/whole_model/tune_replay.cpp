#include "tuner/whole_model/tune_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/clock.h"
#include "base/scratch_folder.h"
#include "compiler/model/load/prepared_model.h"
#include "tuner/session/recording.h"
#include "tuner/session/run_local.h"
#include "tuner/tunings/tunings.h"
#include "tuner/whole_model/other_tasks.h"
#include "tuner/whole_model/tune_tasks.h"

namespace attune::whole_model {
namespace {

// What a session could know when it began: the records that were there before it.
Status copy_what_was_known(records::Store& from, std::int64_t before_ms, records::Store& to) {
  auto all = from.list({});
  if (!all.ok()) return all.error();
  std::reverse(all->begin(), all->end());  // oldest first
  std::erase_if(*all, [&](const records::Record& each) { return each.created_at_ms >= before_ms; });
  std::set<std::string> keys;
  for (records::Record& record : *all) {
    record.session = 0;
    keys.insert(record.task_key);
  }
  const auto added = to.add(*all);
  if (!added.ok()) return added.error();
  for (const std::string& key : keys) {
    auto task = from.task(key);
    if (!task.ok()) return task.error();
    if (*task) ATTUNE_RETURN_IF_ERROR(to.put_task(**task));
  }
  auto hints = from.hints({});
  if (!hints.ok()) return hints.error();
  const auto hinted = to.add_hints(*hints);
  return hinted.ok() ? Status() : Status(hinted.error());
}

class Repetition {
 public:
  Repetition(const TuneOptions& options, target::Target target, std::string records)
      : options_(options), target_(std::move(target)), path_(std::move(records)) {}

  Result<ReplayReport> run(std::vector<TunableTask> tasks, bool contest, int window) {
    ATTUNE_ASSIGN(const auto then, records::open_sqlite_store_for_reading(path_));
    ATTUNE_RETURN_IF_ERROR(find_sessions(std::move(tasks), *then));
    // A store for what is chosen now; nobody needs it afterwards.
    ATTUNE_ASSIGN(const ScratchFolder folder, ScratchFolder::make());
    ATTUNE_ASSIGN(const auto scratch, records::open_sqlite_store(folder.path() + "/records.db"));
    ATTUNE_RETURN_IF_ERROR(open_all(contest, *then, *scratch));
    const std::atomic<bool> stop = false;
    if (contest) {
      std::vector<session::WeightedSession> weighted;
      for (const Part& part : parts_) weighted.push_back({part.now.get(), part.task.weight});
      ATTUNE_RETURN_IF_ERROR(
          session::run_model(weighted, {.seconds = 1e9, .window = window}, {}, clock_, {}, stop));
    } else {
      ATTUNE_RETURN_IF_ERROR(session::run_local(*parts_.front().now));
    }
    return report(*scratch);
  }

 private:
  // A task with its session of then and its repetition.
  struct Part {
    TunableTask task;
    std::unique_ptr<session::Recording> then;
    std::unique_ptr<session::Session> now = nullptr;
  };

  // A job among others may have had more rounds under way than a run alone on this machine.
  Result<std::optional<records::SessionId>> find_session(TunableTask& task,
                                                         records::Store& then) const {
    constexpr int kMostRounds = 16;
    const int here = task.options.window;
    std::optional<records::SessionId> found;
    for (int other = 0; other <= kMostRounds && !found; ++other) {
      task.options.window = other == 0 ? here : other;
      ATTUNE_ASSIGN(found,
                    then.find_resumable_session(task.task.key, target::to_string(target_),
                                                session::options_key(task.options), options_.seed));
    }
    return found;
  }

  Status find_sessions(std::vector<TunableTask> tasks, records::Store& then) {
    for (TunableTask& task : tasks) {
      ATTUNE_ASSIGN(const auto found, find_session(task, then));
      if (!found) continue;
      auto stored = then.load_session(*found);
      if (!stored.ok()) return stored.error();
      auto recording = std::make_unique<session::Recording>(std::move(*stored));
      if (recording->round_sizes().empty()) continue;
      task.options.seed = recording->session().spec.seed;
      task.options.round_sizes = recording->round_sizes();
      task.options.resume = false;
      task.options.seconds = 0;
      parts_.push_back({.task = std::move(task), .then = std::move(recording)});
    }
    if (!parts_.empty()) return {};
    return Error{ErrorCode::NotFound,
                 fmt::format("'{}' has no session of this model with these options", path_),
                 "repeat with the options of the run: target, threads, batch and the others"};
  }

  Status open_all(bool contest, records::Store& then, records::Store& now) {
    std::int64_t first_ms = INT64_MAX;
    for (const Part& part : parts_) {
      first_ms = std::min(first_ms, part.then->session().spec.created_at_ms);
    }
    std::shared_ptr<const cost_model::History> history =
        std::make_shared<const cost_model::History>();
    if (options_.history != "none") {
      ATTUNE_RETURN_IF_ERROR(copy_what_was_known(then, first_ms, now));
      auto others = learn_from_others(now, options_.history, target_,
                                      contest ? "" : parts_.front().task.task.key);
      if (!others.ok()) return others.error();
      history = others->history;
    }
    for (Part& part : parts_) {
      auto opened = open_session({now, part.then->builder(), part.then->runner(), clock_},
                                 part.task, target_, options_.search, history);
      if (!opened.ok()) return opened.error();
      part.now = std::move(*opened);
    }
    return {};
  }

  Result<ReplayReport> report(records::Store& store) const {
    ReplayReport result{.tasks = {}, .records = path_};
    for (const Part& part : parts_) {
      const session::TaskReport now = part.now->report();
      ATTUNE_ASSIGN(const records::Session chosen, store.load_session(part.now->id()));
      RepeatedTask task{.key = now.key,
                        .name = now.name,
                        .session = part.then->session().id,
                        .recorded = static_cast<std::size_t>(part.then->candidates()),
                        .difference = part.then->difference(),
                        .best_us = now.best_us,
                        .best_trace = now.best_trace};
      for (const auto& each : chosen.candidates) task.traces.push_back(each.trace);
      if (!task.difference && task.traces.size() != task.recorded) {
        task.difference = fmt::format("{} candidates were chosen then, {} now", task.recorded,
                                      task.traces.size());
      }
      result.tasks.push_back(std::move(task));
    }
    return result;
  }

  const TuneOptions& options_;
  target::Target target_;
  std::string path_;
  const SteadyClock clock_;
  std::vector<Part> parts_;
};

}  // namespace

bool ReplayReport::same() const {
  return std::none_of(tasks.begin(), tasks.end(),
                      [](const RepeatedTask& task) { return task.difference.has_value(); });
}

Result<ReplayReport> replay(const TuneOptions& options, const std::string& records) {
  ATTUNE_ASSIGN(model::LoadedModel model,
                model::load_source(options.model, "is compiled already",
                                   "name the model that it was compiled from"));
  // The layouts that were chosen then.
  ATTUNE_ASSIGN(const model::PreparedModel prepared,
                model::prepare_model(std::move(model),
                                     {.model = options.model, .schedule = {.records = records}}));
  const tuning::CorePlan cores = tunings::plan_cores(prepared.model.target);
  Repetition repetition(options, prepared.model.target, records);
  return repetition.run(
      tunable_tasks(prepared.tasks, prepared.model, options, cores.overlap ? 2 : 1),
      prepared.model.facts.contest, model_window(cores));
}

std::string to_json(const ReplayReport& report) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["tasks"] = Json::array();
  for (const RepeatedTask& task : report.tasks) {
    json["tasks"].push_back(
        {{"key", task.key},
         {"name", task.name},
         {"session", task.session},
         {"same", !task.difference.has_value()},
         {"difference", task.difference ? Json(*task.difference) : Json(nullptr)},
         {"best_us", task.best_us ? Json(*task.best_us) : Json(nullptr)},
         {"trace", task.best_trace},
         {"candidates", task.traces}});
  }
  json["same"] = report.same();
  json["records"] = report.records;
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attune::whole_model
