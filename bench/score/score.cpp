// How fast candidates are scored: random points of an operator's space are turned into traces,
// replayed, their bounds inferred and their times predicted, on one core.
//
// usage: bench_score [-points=N] [OPERATOR...]
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <string_view>

#include "bench/algorithms.h"
#include "compiler/frontend/op_spec/op_spec.h"
#include "targets/kinds.h"
#include "tuner/cost_model/analytic.h"
#include "tuner/space/template_space.h"
#include "tuner/templates/templates.h"

namespace {

using namespace attune;
using SteadyTime = std::chrono::steady_clock;

double seconds_since(SteadyTime::time_point start) {
  return std::chrono::duration<double>(SteadyTime::now() - start).count();
}

struct Counts {
  std::int64_t scored = 0, rejected = 0;
  space::RejectionCounts reasons;
};

int score(std::string_view spec, const target::Target& target, std::int64_t points) {
  const auto task = op_spec::parse_op_spec(spec, target);
  if (!task.ok()) {
    fmt::print(stderr, "bench_score: {}\n", task.error().message);
    return 2;
  }
  const space::TemplateSpace space(algorithms_of(*task), templates::all(), target);
  const cost_model::AnalyticModel model(target);
  Rng rng(1);
  Counts counts;
  double sum_us = 0;
  const auto start = SteadyTime::now();
  while (counts.scored < points && counts.scored + counts.rejected < 20 * points) {
    const auto scheduled = space.schedule_of(space.sample(rng));
    if (scheduled.ok()) {
      sum_us += model.predict_us(*scheduled);
      ++counts.scored;
    } else {
      ++counts.rejected;
      ++counts.reasons[scheduled.error().message];
    }
  }
  const double seconds = seconds_since(start);
  fmt::print("{}\n  {} points; {} scored at {:.0f} candidates/s, {:.0f} with the rejected ones\n",
             task->spec, space.size(), counts.scored, static_cast<double>(counts.scored) / seconds,
             static_cast<double>(counts.scored + counts.rejected) / seconds);
  fmt::print("  mean {:.1f} us predicted\n", sum_us / static_cast<double>(counts.scored));
  for (const space::Point& point : space.defaults()) {
    const auto first = space.schedule_of(point);
    fmt::print("  {:10.1f} us {}\n", first.ok() ? model.predict_us(*first) : 0,
               space.to_string(point));
  }
  for (const auto& [reason, count] : counts.reasons) fmt::print("  {:6} {}\n", count, reason);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  target::Target wanted;
  wanted.threads = 1;
  const auto target = targets::resolve(wanted);
  if (!target.ok()) return 1;
  std::int64_t points = 20'000;
  std::vector<std::string_view> specs;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("-points=")) {
      points = std::atoll(argument.substr(8).data());
    } else {
      specs.push_back(argument);
    }
  }
  if (specs.empty()) {
    specs = {"matmul:m=1024,n=1024,k=1024",
             "conv2d:h=56,w=56,ic=64,oc=64,kh=3,kw=3,stride=1,pad=1,algo=direct",
             "conv2d:h=28,w=28,ic=128,oc=128,kh=3,kw=3,stride=1,pad=1,algo=winograd4",
             "conv2d:h=7,w=7,ic=512,oc=512,kh=3,kw=3,stride=1,pad=1,algo=direct",
             "depthwise:h=56,w=56,c=128,k=3,stride=1"};
  }
  for (std::string_view spec : specs) {
    if (const int rc = score(spec, *target, points); rc != 0) return rc;
  }
  return 0;
}
