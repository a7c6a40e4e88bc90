#include "tests/support/random/random_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/bounds.h"

namespace attune::test {
namespace {

using namespace schedule;

class StepMaker {
 public:
  StepMaker(Rng& rng, const State& state) : rng_(rng), state_(state) {
    index_ = static_cast<int>(rng.below(state.stages.size()));
  }

  Step make() {
    switch (rng_.below(22)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Split{name(), loop(), factors()};
      case 4:
        return Fuse{name(), adjacent_loops()};
      case 5:
      case 6:
        return Reorder{name(), shuffled_loops()};
      case 7:
        return Tile{name(), loop(), loop(), factor(), factor()};
      case 8:
        return Parallel{name(), loop()};
      case 9:
      case 10:
        return Vectorize{name(), rng_.chance(0.6) ? last_loop() : loop()};
      case 11:
        return Unroll{name(), loop()};
      case 12:
      case 13:
      case 14:
      case 15:
        return compute_at();
      case 16:
        return rng_.chance(0.5) ? Step(Inline{name()}) : Step(Root{name()});
      case 17:
        return CacheRead{tensor(), name()};
      case 18:
        return CacheWrite{name()};
      case 19:
        return Rfactor{name(), loop()};
      case 20:
        return rng_.chance(0.5) ? Step(SetScope{name(), scope()}) : Step(Layout{name(), layout()});
      default:
        return annotation();
    }
  }

 private:
  const StageState& stage() const { return *state_.stages[index_]; }
  std::string name() { return rng_.chance(0.01) ? "nobody" : stage().stage.name; }

  std::string loop_of(const StageState& of) {
    if (of.loops.empty() || rng_.chance(0.02)) return "nowhere";
    return of.iters[of.loops[rng_.below(of.loops.size())]].name;
  }
  std::string loop() { return loop_of(stage()); }
  std::string last_loop() {
    return stage().loops.empty() ? "nowhere" : stage().iters[stage().loops.back()].name;
  }

  std::int64_t factor() {
    constexpr std::int64_t kUsual[] = {1, 2, 2, 3, 4, 4, 5, 7, 8, 8, 16, 16};
    constexpr std::int64_t kOdd[] = {0, -1, 100, 1 << 20, std::int64_t{1} << 40};
    if (rng_.chance(0.02)) return kOdd[rng_.below(std::size(kOdd))];
    return kUsual[rng_.below(std::size(kUsual))];
  }
  Numbers factors() {
    Numbers list;
    const auto count = rng_.chance(0.01) ? 0 : 1 + rng_.below(10) / 7;
    for (std::uint64_t i = 0; i < count; ++i) list.push_back(factor());
    return list;
  }

  Names adjacent_loops() {
    const auto& loops = stage().loops;
    if (loops.size() < 2 || rng_.chance(0.05)) return {loop(), loop()};
    const std::size_t first = rng_.below(loops.size() - 1);
    const std::size_t count = 2 + rng_.below(std::min<std::size_t>(2, loops.size() - first - 1));
    Names names;
    for (std::size_t i = first; i < std::min(first + count, loops.size()); ++i) {
      names.push_back(stage().iters[loops[i]].name);
    }
    return names;
  }

  Names shuffled_loops() {
    Names names;
    for (int l : stage().loops) {
      if (rng_.chance(0.8)) names.push_back(stage().iters[l].name);
    }
    for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[rng_.below(i)]);
    if (rng_.chance(0.02)) names.push_back(loop());
    return names;
  }

  Step compute_at() {
    std::vector<int> hosts = state_.consumers_of(index_);
    // Where a consumer is computed is a place for its producers too.
    for (int consumer : state_.consumers_of(index_)) {
      const int host = state_.find(state_.stages[consumer]->at_stage);
      if (host >= 0) hosts.push_back(host);
    }
    if (hosts.empty() || rng_.chance(0.05)) {
      hosts = {static_cast<int>(rng_.below(state_.stages.size()))};
    }
    const StageState& host = *state_.stages[hosts[rng_.below(hosts.size())]];
    return ComputeAt{name(), host.stage.name, loop_of(host)};
  }

  std::string tensor() {
    const auto& reads = stage().accesses;
    if (reads.empty() || rng_.chance(0.03)) return "nothing";
    return reads[rng_.below(reads.size())].buffer->name;
  }

  std::string scope() {
    constexpr const char* kScopes[] = {"global", "stack", "register", "register", "shared"};
    return kScopes[rng_.below(std::size(kScopes))];
  }

  Names layout() {
    Names terms;
    for (const ir::Axis& axis : stage().stage.axes) {
      const std::int64_t by = rng_.between(1, 9), then = rng_.between(1, 4);
      switch (rng_.below(3)) {
        case 0:
          terms.push_back(axis.name);
          break;
        case 1:
          terms.push_back(fmt::format("{}/{}", axis.name, by));
          terms.push_back(fmt::format("{}%{}", axis.name, by));
          break;
        default:
          terms.push_back(fmt::format("{}/{}", axis.name, by * then));
          terms.push_back(fmt::format("{}/{}%{}", axis.name, by, then));
          terms.push_back(fmt::format("{}%{}", axis.name, by));
      }
    }
    for (std::size_t i = terms.size(); i > 1; --i) std::swap(terms[i - 1], terms[rng_.below(i)]);
    if (rng_.chance(0.05) && !terms.empty()) terms.pop_back();
    return terms;
  }

  Step annotation() {
    if (rng_.chance(0.4)) return Annotate{name(), "*", "skip", "masked"};
    if (rng_.chance(0.7)) return Annotate{name(), "*", "init", "select"};
    if (rng_.chance(0.8)) return Annotate{name(), loop(), "launder", "on"};
    return Annotate{name(), loop(), "color", "red"};
  }

  Rng& rng_;
  const State& state_;
  int index_ = 0;
};

}  // namespace

Step random_step(Rng& rng, const State& state) { return StepMaker(rng, state).make(); }

Result<Cost> cost_of(const State& state) {
  ATTUNE_ASSIGN(const auto bounds, infer_bounds(state, Mins::Leave));
  Cost total;
  // Consumers come after their producers: hosts first.
  std::vector<Cost> outside(state.stages.size(), {1, 1});
  const auto until = [&](std::size_t index, std::size_t loops) {
    const StageState& stage = *state.stages[index];
    Cost cost = outside[index];
    for (std::size_t i = 0; i < loops; ++i) {
      const auto extent = static_cast<double>(bounds[index].iters[stage.loops[i]]);
      const ir::LoopKind kind = stage.iters[stage.loops[i]].kind;
      cost.iterations *= extent;
      if (kind == ir::LoopKind::Unrolled) cost.copies *= extent;
      if (kind == ir::LoopKind::Vectorized) cost.copies *= 1 + extent / 64;
    }
    return cost;
  };
  for (std::size_t i = state.stages.size(); i-- > 0;) {
    const StageState& stage = *state.stages[i];
    if (!stage.at_root()) {
      const int host = state.find(stage.at_stage);
      outside[i] = until(host, state.stages[host]->find_loop(stage.at_loop) + 1);
    }
    const Cost own = until(i, stage.loops.size());
    total.iterations += own.iterations;
    total.copies += own.copies;
  }
  return total;
}

}  // namespace attune::test
