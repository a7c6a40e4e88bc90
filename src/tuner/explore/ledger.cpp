#include "tuner/explore/ledger.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace attune::explore {
namespace {

constexpr int kVersion = 1;
constexpr double kHopeless = 10;
constexpr std::uint64_t kNameable = 16'384;  // points whose traces are worth making, all of them

Error damaged(std::string_view what) {
  return {ErrorCode::Corrupt, fmt::format("the saved state of the search {}", what),
          "start a new session"};
}

}  // namespace

std::optional<double> Ledger::predicted_us(const space::Point& point) {
  const std::uint64_t key = space::hash(point);
  if (const auto found = predictions_.find(key); found != predictions_.end()) {
    return found->second < 0 ? std::nullopt : std::optional(found->second);
  }
  const auto scheduled = space_.schedule_of(point);
  if (!scheduled.ok()) {
    ++rejections_[scheduled.error().message];
    predictions_.emplace(key, -1.0);
    return std::nullopt;
  }
  const double us = model_.predict_us(*scheduled);
  const bool hopeless = reject_hopeless_ && us > ceiling_us();
  if (hopeless) ++rejections_["predicted far slower than the default"];
  predictions_.emplace(key, hopeless ? -1.0 : us);
  return hopeless ? std::nullopt : std::optional(us);
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

bool Ledger::proposed(const space::Point& point) const {
  return proposed_points_.contains(space::hash(point));
}

std::optional<Proposal> Ledger::propose(const space::Point& point, const Hashes& known) {
  if (proposed(point)) return std::nullopt;
  const auto us = predicted_us(point);
  if (!us) return std::nullopt;
  // Points with equal traces are one candidate; whichever comes first stands for all.
  proposed_points_.insert(space::hash(point));
  Proposal proposal{point, space_.trace_of(point), 0, *us};
  proposal.trace_hash = schedule::hash(proposal.trace);
  if (known.contains(proposal.trace_hash)) return std::nullopt;
  if (!by_trace_.emplace(proposal.trace_hash, entries_.size()).second) return std::nullopt;
  entries_.push_back({point, proposal.trace_hash, *us, false, std::nullopt});
  return proposal;
}

void Ledger::record(std::span<const Finding> findings) {
  for (const Finding& finding : findings) {
    const auto found = by_trace_.find(finding.trace_hash);
    if (found == by_trace_.end()) {
      adopt(finding);
      continue;
    }
    Entry& entry = entries_[found->second];
    entry.finished = true;
    entry.measured_us = finding.measured_us;
  }
}

void Ledger::adopt(const Finding& finding) {
  if (space_.size() > kNameable) return;
  for (std::uint64_t i = all_traces_.empty() ? 0 : space_.size(); i < space_.size(); ++i) {
    all_traces_.emplace(schedule::hash(space_.trace_of(space_.point_at(i))), i);
  }
  const auto found = all_traces_.find(finding.trace_hash);
  if (found == all_traces_.end()) return;
  const space::Point point = space_.point_at(found->second);
  const auto us = predicted_us(point);
  if (!us) return;
  proposed_points_.insert(space::hash(point));
  by_trace_.emplace(finding.trace_hash, entries_.size());
  entries_.push_back({point, finding.trace_hash, *us, true, finding.measured_us});
}

std::string Ledger::save() const {
  nlohmann::json list = nlohmann::json::array();
  for (const Entry& entry : entries_) {
    nlohmann::json item{space_.index_of(entry.point), entry.trace_hash, entry.predicted_us,
                        entry.finished};
    item.push_back(entry.measured_us ? nlohmann::json(*entry.measured_us) : nlohmann::json());
    list.push_back(std::move(item));
  }
  return nlohmann::json{{"version", kVersion}, {"size", space_.size()}, {"proposed", list}}.dump();
}

Status Ledger::load(std::string_view saved) {
  CHECK(entries_.empty(), "a used explorer cannot load");
  const auto document = nlohmann::json::parse(saved, nullptr, false);
  if (!document.is_object()) return damaged("is not JSON");
  try {
    if (document.at("version") != kVersion) return damaged("has another version");
    if (document.at("size") != space_.size()) return damaged("is of another space");
    for (const auto& item : document.at("proposed")) {
      const auto index = item.at(0).get<std::uint64_t>();
      if (index >= space_.size()) return damaged("names a point that does not exist");
      Entry entry{space_.point_at(index), item.at(1).get<std::uint64_t>(), item.at(2).get<double>(),
                  item.at(3).get<bool>(), std::nullopt};
      if (!item.at(4).is_null()) entry.measured_us = item.at(4).get<double>();
      proposed_points_.insert(space::hash(entry.point));
      by_trace_.emplace(entry.trace_hash, entries_.size());
      entries_.push_back(std::move(entry));
    }
  } catch (const nlohmann::json::exception&) {
    return damaged("is incomplete");
  }
  return {};
}

}  // namespace attune::explore
