#include "tuner/explore/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/json_depth.h"
#include "base/json_value.h"
#include "base/parallel.h"

namespace attune::explore {
namespace {

constexpr int kVersion = 3;
constexpr double kHopeless = 10;
constexpr std::uint64_t kNameable = 16'384;  // points whose traces are worth making, all of them
// In larger spaces the way from a trace to its point takes some ten milliseconds; so many go at a
// time.
constexpr std::size_t kTracedBack = 64;
constexpr std::size_t kPredictions = 65'536;  // of a generation
constexpr std::size_t kReasons = 64;          // that are told apart
// That are predicted in the time that a thread takes to start, some times over.
constexpr std::size_t kPointsOfAThread = 8;
// Results to learn from, and how many of them remain when there are more: the fastest and the
// newest, half of each.
constexpr std::size_t kMostHeld = 4096, kRemaining = 3072;

Error damaged(std::string_view what) {
  return {ErrorCode::Corrupt, fmt::format("the saved state of the search {}", what),
          "start a new session"};
}

bool faster(const space::Candidate* a, const space::Candidate* b) {
  return *a->time_us < *b->time_us;
}

// As it is held: of a trace the hash is enough.
space::Candidate without_trace(const space::Candidate& candidate) {
  return {.trace = {},
          .trace_hash = candidate.trace_hash,
          .point = candidate.point,
          .predicted_us = candidate.predicted_us,
          .time_us = candidate.time_us};
}

// So many of them: the fastest, and evenly spaced ones of the rest, failures last. In the order in
// which they were.
std::vector<const space::Candidate*> most_telling(std::vector<const space::Candidate*> all,
                                                  std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto time = [&](std::size_t i) {
    return all[i]->time_us.value_or(std::numeric_limits<double>::infinity());
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return time(a) < time(b); });
  const std::size_t fastest = most / 2, rest = order.size() - fastest, wanted = most - fastest;
  for (std::size_t i = 0; i < wanted; ++i) order[fastest + i] = order[fastest + i * rest / wanted];
  order.resize(most);
  std::sort(order.begin(), order.end());
  std::vector<const space::Candidate*> chosen;
  for (const std::size_t i : order) chosen.push_back(all[i]);
  return chosen;
}

}  // namespace

const double* Ledger::Predictions::find(std::uint64_t key) {
  if (const auto found = young_.find(key); found != young_.end()) return &found->second;
  const auto found = old_.find(key);
  if (found == old_.end()) return nullptr;
  const double us = found->second;
  add(key, us);
  return &young_.find(key)->second;
}

void Ledger::Predictions::add(std::uint64_t key, double us) {
  if (young_.size() >= kPredictions) {
    old_ = std::move(young_);
    young_.clear();
  }
  young_.emplace(key, us);
}

std::optional<double> Ledger::reject(const std::string& reason) {
  const bool told_apart = rejections_.size() < kReasons || rejections_.contains(reason);
  ++rejections_[told_apart ? reason : "other reasons"];
  return std::nullopt;
}

Result<double> Ledger::model_us(const space::Point& point) const {
  const auto scheduled = space_.schedule_of(point);
  if (!scheduled.ok()) return scheduled.error();
  return model_.predict_us(*scheduled);
}

std::optional<double> Ledger::judge(const Result<double>& us) {
  if (!us.ok()) return reject(us.error().message);
  if (reject_hopeless_ && *us > ceiling_us()) {
    return reject("predicted far slower than the default");
  }
  return *us;
}

// In the order given, whatever the number of threads.
void Ledger::foresee(std::span<const space::Point* const> points) {
  std::vector<const space::Point*> unknown;
  Hashes keys;
  for (const space::Point* point : points) {
    const std::uint64_t key = space::hash(*point);
    if (keys.insert(key).second && predictions_.find(key) == nullptr) unknown.push_back(point);
  }
  std::vector<Result<double>> found(unknown.size(), 0.0);
  const std::size_t threads = std::min(cores_allowed(), unknown.size() / kPointsOfAThread + 1);
  run_on_threads(unknown.size(), threads, [&](std::size_t i) { found[i] = model_us(*unknown[i]); });
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    predictions_.add(space::hash(*unknown[i]), judge(found[i]).value_or(-1));
  }
}

std::optional<double> Ledger::predicted_us(const space::Point& point) {
  const std::uint64_t key = space::hash(point);
  if (const double* known = predictions_.find(key)) {
    return *known < 0 ? std::nullopt : std::optional(*known);
  }
  const std::optional<double> us = judge(model_us(point));
  predictions_.add(key, us.value_or(-1));
  return us;
}

double Ledger::ceiling_us() {
  if (!ceiling_us_) {
    double best = std::numeric_limits<double>::infinity();
    for (const space::Point& point : space_.defaults()) {
      const auto scheduled = space_.schedule_of(point);
      if (scheduled.ok()) best = std::min(best, model_.predict_us(*scheduled));
    }
    ceiling_us_ = kHopeless * best;
  }
  return *ceiling_us_;
}

std::optional<space::Candidate> Ledger::propose(const space::Point& point, const Hashes& known) {
  if (gone(point)) return std::nullopt;
  const auto us = predicted_us(point);
  if (!us) return std::nullopt;
  // Points with equal traces are one candidate; whichever comes first stands for all.
  const std::uint64_t index = space_.index_of(point);
  gone_.insert(index);
  space::Candidate proposal{.trace = space_.trace_of(point), .point = point, .predicted_us = *us};
  proposal.trace_hash = schedule::hash(proposal.trace);
  if (known.contains(proposal.trace_hash) || !traces_.insert(proposal.trace_hash).second) {
    changes_.push_back({Change::Kind::Gone, {.trace = {}, .point = point}});
    return std::nullopt;
  }
  space::Candidate held = without_trace(proposal);
  changes_.push_back({Change::Kind::Proposed, held});
  open_.insert(held.trace_hash);
  add(std::move(held));
  return proposal;
}

void Ledger::add(space::Candidate candidate) {
  by_trace_.emplace(candidate.trace_hash, candidates_.size());
  candidates_.push_back(std::move(candidate));
}

bool Ledger::settle(const space::Candidate& tried) {
  const auto found = by_trace_.find(tried.trace_hash);
  if (found == by_trace_.end()) return false;
  space::Candidate& held = candidates_[found->second];
  held.time_us = tried.time_us;
  open_.erase(held.trace_hash);
  changes_.push_back({Change::Kind::Found, held});
  return true;
}

void Ledger::record(std::span<const space::Candidate> tried) {
  std::vector<const space::Candidate*> foreign;
  for (const space::Candidate& candidate : tried) {
    if (settle(candidate) || traces_.contains(candidate.trace_hash)) continue;
    foreign.push_back(&candidate);
  }
  adopt(std::move(foreign));
  if (candidates_.size() <= kMostHeld) return;
  leave_behind();
  changes_.push_back({.kind = Change::Kind::LeftBehind});
}

// Keeps the fastest, the newest, and those that were not tried yet.
void Ledger::leave_behind() {
  Hashes kept;
  for (const space::Candidate* each : best(kRemaining / 2)) kept.insert(each->trace_hash);
  for (auto each = candidates_.rbegin(); each != candidates_.rend(); ++each) {
    if (!was_tried(*each) || kept.size() < kRemaining) kept.insert(each->trace_hash);
  }
  std::erase_if(candidates_, [&](const auto& each) { return !kept.contains(each.trace_hash); });
  by_trace_.clear();
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    by_trace_.emplace(candidates_[i].trace_hash, i);
  }
}

void Ledger::adopt(std::vector<const space::Candidate*> foreign) {
  if (space_.size() > kNameable) foreign = most_telling(std::move(foreign), kTracedBack);
  for (const space::Candidate* tried : foreign) {
    if (settle(*tried)) continue;  // the same trace again
    const auto point = point_of(*tried);
    const auto us = point ? predicted_us(*point) : std::nullopt;
    if (!us) continue;
    gone_.insert(space_.index_of(*point));
    traces_.insert(tried->trace_hash);
    space::Candidate held = without_trace(*tried);
    held.point = point;
    held.predicted_us = *us;
    changes_.push_back({Change::Kind::Adopted, held});
    add(std::move(held));
  }
}

std::optional<space::Point> Ledger::point_of(const space::Candidate& candidate) {
  if (candidate.point) return candidate.point;
  if (space_.size() > kNameable) return lookup_.find(candidate.trace);
  for (std::uint64_t i = all_traces_.empty() ? 0 : space_.size(); i < space_.size(); ++i) {
    all_traces_.emplace(schedule::hash(space_.trace_of(space_.point_at(i))), i);
  }
  const auto found = all_traces_.find(candidate.trace_hash);
  if (found == all_traces_.end()) return std::nullopt;
  return space_.point_at(found->second);
}

std::vector<space::Candidate> Ledger::tried() const {
  std::vector<space::Candidate> tried;
  for (const space::Candidate& candidate : candidates_) {
    if (was_tried(candidate)) tried.push_back(candidate);
  }
  return tried;
}

std::vector<const space::Candidate*> Ledger::best(std::size_t count) const {
  std::vector<const space::Candidate*> measured;
  for (const space::Candidate& candidate : candidates_) {
    if (candidate.time_us) measured.push_back(&candidate);
  }
  std::stable_sort(measured.begin(), measured.end(), faster);
  if (measured.size() > count) measured.resize(count);
  return measured;
}

nlohmann::json Ledger::take_changes() {
  nlohmann::json list = nlohmann::json::array();
  for (const Change& each : changes_) {
    const space::Candidate& of = each.candidate;
    const auto time = of.time_us ? nlohmann::json(*of.time_us) : nlohmann::json();
    const std::uint64_t index = of.point ? space_.index_of(*of.point) : 0;
    switch (each.kind) {
      case Change::Kind::Gone:
        list.push_back(nlohmann::json::array({"gone", index}));
        break;
      case Change::Kind::Proposed:
        list.push_back(nlohmann::json::array({"proposed", index, of.trace_hash, of.predicted_us}));
        break;
      case Change::Kind::Adopted:
        list.push_back(
            nlohmann::json::array({"adopted", index, of.trace_hash, of.predicted_us, time}));
        break;
      case Change::Kind::Found:
        list.push_back(nlohmann::json::array({"found", of.trace_hash, time}));
        break;
      case Change::Kind::LeftBehind:
        list.push_back(nlohmann::json::array({"left_behind"}));
        break;
    }
  }
  changes_.clear();
  return {{"version", kVersion}, {"size", space_.size()}, {"changes", std::move(list)}};
}

bool Ledger::is_former(const nlohmann::json& changes) {
  const auto version = changes.is_object() ? changes.find("version") : changes.end();
  return version != changes.end() && version->is_number_integer() && *version >= 1 &&
         *version < kVersion;
}

Status Ledger::restore(const nlohmann::json& changes) {
  try {
    if (const auto version = json_value<std::int64_t>(changes.at("version")); version > kVersion) {
      return Error{ErrorCode::Corrupt,
                   fmt::format("the saved state of the search has version {}, this attune knows up "
                               "to {}",
                               version, kVersion),
                   "update attune, or start a new session without --resume"};
    }
    if (changes.at("version") != kVersion) return damaged("has no version");
    if (changes.at("size") != space_.size()) return damaged("is of another space");
    for (const auto& each : changes.at("changes")) ATTUNE_RETURN_IF_ERROR(apply(each));
  } catch (const nlohmann::json::exception&) {
    return damaged("is incomplete");
  }
  return {};
}

// Throws where the document is not of the form that take_changes() gives it.
Status Ledger::apply(const nlohmann::json& change) {
  const auto measured = [](const nlohmann::json& value) {
    return value.is_null() ? std::nullopt : std::optional(value.get<double>());
  };
  const auto kind = change.at(0).get<std::string>();
  if (kind == "found") {
    const auto found = by_trace_.find(json_value<std::uint64_t>(change.at(1)));
    if (found == by_trace_.end()) return damaged("has a result of an unknown candidate");
    space::Candidate& held = candidates_[found->second];
    held.time_us = measured(change.at(2));
    open_.erase(held.trace_hash);
    return {};
  }
  if (kind == "left_behind") {
    leave_behind();
    return {};
  }
  const auto index = json_value<std::uint64_t>(change.at(1));
  if (index >= space_.size()) return damaged("names a point that does not exist");
  gone_.insert(index);
  if (kind == "gone") return {};
  const auto trace_hash = json_value<std::uint64_t>(change.at(2));
  // A template that changed may leave a space as large as it was: its points are others.
  if (traces_.empty() && schedule::hash(space_.trace_of(space_.point_at(index))) != trace_hash) {
    return damaged("is of another space");
  }
  traces_.insert(trace_hash);
  const bool adopted = kind == "adopted";
  if (!adopted) open_.insert(trace_hash);
  add({.trace = {},
       .trace_hash = trace_hash,
       .point = space_.point_at(index),
       .predicted_us = change.at(3).get<double>(),
       .time_us = adopted ? measured(change.at(4)) : std::nullopt});
  return {};
}

void add_defaults(std::vector<space::Candidate>& batch, std::size_t wanted, Ledger& ledger,
                  const Hashes& known) {
  if (!ledger.unused()) return;
  std::vector<std::pair<double, space::Point>> defaults;
  for (space::Point& point : ledger.space().defaults()) {
    if (const auto us = ledger.predicted_us(point)) defaults.emplace_back(*us, std::move(point));
  }
  std::stable_sort(defaults.begin(), defaults.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [us, point] : defaults) {
    if (batch.size() >= wanted) return;
    if (auto proposal = ledger.propose(point, known)) batch.push_back(std::move(*proposal));
  }
}

nlohmann::json save_points(const space::Space& space, std::span<const space::Point> points) {
  nlohmann::json list = nlohmann::json::array();
  for (const space::Point& point : points) list.push_back(space.index_of(point));
  return list;
}

Result<std::vector<space::Point>> load_points(const space::Space& space,
                                              const nlohmann::json& document, const char* name) {
  std::vector<space::Point> points;
  const auto list = document.find(name);
  if (list == document.end() || !list->is_array()) return damaged("is incomplete");
  for (const auto& index : *list) {
    if (!index.is_number_unsigned() || index >= space.size()) {
      return damaged("names a point that does not exist");
    }
    points.push_back(space.point_at(index.get<std::uint64_t>()));
  }
  return points;
}

Result<std::uint64_t> load_position(const space::Space& space, const nlohmann::json& document,
                                    const char* name) {
  const auto position = document.find(name);
  if (position == document.end() || !position->is_number_unsigned() || *position > space.size()) {
    return damaged("is incomplete");
  }
  return position->get<std::uint64_t>();
}

Result<nlohmann::json> parse_saved(std::string_view saved) {
  if (json_depth(saved) > kDeepestJson) return damaged("is nested too deep");
  auto document = nlohmann::json::parse(saved, nullptr, false);
  if (!document.is_object()) return damaged("is not JSON");
  return document;
}

}  // namespace attune::explore
