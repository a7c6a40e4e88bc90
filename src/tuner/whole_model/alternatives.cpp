#include "tuner/whole_model/alternatives.h"

#include <algorithm>
#include <set>
#include <variant>

#include "tuner/records/record_json.h"

namespace attune::whole_model {
namespace {

// How much slower, by itself, than the best schedule one may be.
constexpr double kOtherDivision = 1.12, kSameDivision = 1.05;

// The loops that a fused or split loop stems from: "n*c.0*oh.0" from n, c and oh.
std::set<std::string> origins_of(const std::string& loop) {
  std::set<std::string> origins;
  for (std::size_t begin = 0; begin <= loop.size();) {
    const std::size_t end = std::min(loop.find('*', begin), loop.size());
    const std::string part = loop.substr(begin, end - begin);
    origins.insert(part.substr(0, part.find('.')));
    begin = end + 1;
  }
  return origins;
}

}  // namespace

std::string division_of_work(const schedule::Trace& trace) {
  std::string division;
  std::set<std::pair<std::string, std::string>> loops;  // of stages, that run in parallel
  for (const schedule::Step& step : trace) {
    if (const auto* parallel = std::get_if<schedule::Parallel>(&step)) {
      for (const std::string& loop : origins_of(parallel->loop))
        loops.emplace(parallel->stage, loop);
      division += schedule::to_string(step) + "\n";
    } else if (std::holds_alternative<schedule::Algorithm>(step)) {
      division += schedule::to_string(step) + "\n";
    }
  }
  for (const schedule::Step& step : trace) {
    const auto* split = std::get_if<schedule::Split>(&step);
    if (split && loops.contains({split->stage, split->loop})) {
      division += schedule::to_string(step) + "\n";
    }
  }
  return division;
}

std::vector<schedule::Trace> alternatives(const schedule::Trace& best,
                                          const std::vector<space::Candidate>& fastest,
                                          std::size_t most) {
  std::vector<schedule::Trace> chosen{best};
  if (fastest.empty()) return chosen;
  std::set<std::uint64_t> known{schedule::hash(best)};
  std::set<std::string> divisions{division_of_work(best)};
  double best_us = *fastest.front().time_us;
  for (const space::Candidate& each : fastest) {
    if (known.contains(schedule::hash(each.trace))) best_us = *each.time_us;
  }
  const std::size_t half = (most + 1) / 2;
  for (const space::Candidate& each : fastest) {
    if (chosen.size() >= half || *each.time_us > kOtherDivision * best_us) break;
    if (!divisions.insert(division_of_work(each.trace)).second) continue;
    known.insert(schedule::hash(each.trace));
    chosen.push_back(each.trace);
  }
  for (const space::Candidate& each : fastest) {
    if (chosen.size() >= most || *each.time_us > kSameDivision * best_us) break;
    if (known.insert(schedule::hash(each.trace)).second) chosen.push_back(each.trace);
  }
  return chosen;
}

Result<std::vector<model::Schedule>> schedules_to_try(const graph::Task& task,
                                                      const model::Schedule& best,
                                                      const TrySchedules& which,
                                                      records::Store& store) {
  constexpr std::size_t kLookedAt = 64;
  ATTUNE_ASSIGN(const std::vector<records::Record> top, store.top(which.query, kLookedAt));
  std::vector<space::Candidate> fastest;
  for (const records::Record& record : top) {
    const auto us = records::competing_time_us(record.outcome);
    if (!us || (which.session != 0 && record.session != which.session)) continue;
    auto trace = schedule::parse_trace(record.trace);
    if (!trace.ok()) continue;
    const std::string algorithm = model::recorded_schedule(*trace).algorithm;
    if (!which.algorithms.allow(algorithm)) continue;
    const ir::Program* program = model::program_of(task, algorithm);
    if (program == nullptr || !schedule::replay(*program, *trace).ok()) continue;
    fastest.push_back({.trace = std::move(*trace), .time_us = us});
  }
  std::vector<model::Schedule> schedules{best};
  std::vector<schedule::Trace> traces = alternatives(best.trace, fastest, which.most);
  for (std::size_t i = 1; i < traces.size(); ++i) {
    schedules.push_back(model::recorded_schedule(std::move(traces[i])));
  }
  return schedules;
}

}  // namespace attune::whole_model
