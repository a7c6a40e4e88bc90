// How fast features are made: random points of an operator's space, on one core, each kind by
// itself and the richest together with all that comes before it (trace, replay, bounds, analytic
// prediction).
//
// usage: bench_features [OPERATOR...]
#include <fmt/format.h>

#include <chrono>
#include <string_view>

#include "bench/algorithms.h"
#include "compiler/frontend/op_spec/op_spec.h"
#include "targets/kinds.h"
#include "tuner/cost_model/analytic.h"
#include "tuner/features/features.h"
#include "tuner/features/loop_tree.h"
#include "tuner/space/template_space.h"
#include "tuner/templates/templates.h"

namespace {

using namespace attune;

constexpr std::size_t kPoints = 2000;
constexpr int kRounds = 5;

// Calls `make` for all points a few times and prints how many a second the fastest round did.
template <typename Make>
void time_kind(std::string_view name, std::size_t count, const Make& make) {
  double best = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < count; ++i) make(i);
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  fmt::print("  {:28} {:9.0f} candidates/s\n", name, static_cast<double>(count) / best);
}

int time_features(std::string_view spec, const target::Target& target) {
  const auto task = op_spec::parse_op_spec(spec, target);
  if (!task.ok()) {
    fmt::print(stderr, "bench_features: {}\n", task.error().message);
    return 2;
  }
  const space::TemplateSpace space(algorithms_of(*task), templates::all(), target);
  const cost_model::AnalyticModel model(target);
  Rng rng(1);
  std::vector<space::Point> points;
  std::vector<space::Scheduled> scheduled;
  for (std::size_t tries = 0; points.size() < kPoints && tries < 100 * kPoints; ++tries) {
    space::Point point = space.sample(rng);
    auto made = space.schedule_of(point);
    if (!made.ok()) continue;
    points.push_back(std::move(point));
    scheduled.push_back(std::move(*made));
  }
  fmt::print("{}: {} points\n", task->spec, points.size());
  std::vector<float> values(features::width(features::Kind::Knob, space));
  time_kind("knob", points.size(),
            [&](std::size_t i) { features::extract_knobs(space, points[i], values); });
  for (const auto kind : {features::Kind::Context, features::Kind::Relation}) {
    values.resize(features::width(kind));
    time_kind(features::to_string(kind), points.size(),
              [&](std::size_t i) { features::extract(kind, scheduled[i], target, values); });
  }
  time_kind("loop tree", points.size(),
            [&](std::size_t i) { (void)features::loop_tree(scheduled[i], target); });
  time_kind("relation, from the point on", points.size(), [&](std::size_t i) {
    const auto made = space.schedule_of(points[i]);
    (void)model.predict_us(*made);
    features::extract(features::Kind::Relation, *made, target, values);
  });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  target::Target wanted;
  wanted.threads = 1;
  const auto target = targets::resolve(wanted);
  if (!target.ok()) return 1;
  std::vector<std::string_view> specs(argv + 1, argv + argc);
  if (specs.empty()) {
    specs = {"matmul:m=1024,n=1024,k=1024",
             "conv2d:h=56,w=56,ic=64,oc=64,kh=3,kw=3,stride=1,pad=1,algo=direct",
             "conv2d:h=28,w=28,ic=128,oc=128,kh=3,kw=3,stride=1,pad=1,algo=winograd4",
             "depthwise:h=56,w=56,c=128,k=3,stride=1"};
  }
  for (std::string_view spec : specs) {
    if (const int rc = time_features(spec, *target); rc != 0) return rc;
  }
  return 0;
}
