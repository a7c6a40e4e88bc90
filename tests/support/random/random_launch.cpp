#include "tests/support/random/random_launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/text/print.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/bindings.h"
#include "compiler/schedule/bounds.h"
#include "tests/support/isolated.h"
#include "tests/support/random/random_steps.h"
#include "tests/support/run_scheduled.h"

namespace attune::test {
namespace {

using namespace schedule;

constexpr std::int64_t kMostThreads = 256;
constexpr double kMostIterations = 1e5;

// Steps that bind loops, share memory and place stages inside of blocks.
class LaunchStepMaker {
 public:
  LaunchStepMaker(Rng& rng, const State& state) : rng_(rng), state_(state) {
    index_ = static_cast<int>(rng.below(state.stages.size()));
    if (rng.chance(0.4)) index_ = static_cast<int>(state.stages.size()) - 1;
  }

  Step make() {
    switch (rng_.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Bind{name(), loop(), axis()};
      case 4:
      case 5:
        return SetScope{name(), rng_.chance(0.8) ? "shared" : "register"};
      case 6:
      case 7:
      case 8:
        return compute_at();
      case 9:
        return cache_read();
      case 10:
        return StorageAlign{name(), rng_.between(1, 9), rng_.between(0, 4)};
      case 11:
        return CacheWrite{name()};
      case 12:
      case 13:
        return pipeline();
      default:
        return Split{name(), loop(), {rng_.between(1, 9)}};
    }
  }

 private:
  const StageState& stage() const { return *state_.stages[index_]; }
  std::string name() const { return stage().stage.name; }
  std::string loop_of(const StageState& of) {
    if (of.loops.empty()) return "nowhere";
    return of.iters[of.loops[rng_.below(of.loops.size())]].name;
  }
  std::string loop() {
    const bool first = stage().at_root() && !stage().loops.empty() && rng_.chance(0.3);
    return first ? stage().iters[stage().loops[0]].name : loop_of(stage());
  }
  std::string axis() {
    constexpr const char* kBlocks[] = {"block.x", "block.x", "block.y", "block.z"};
    constexpr const char* kThreads[] = {"thread.x", "thread.x", "thread.x", "thread.y", "thread.z"};
    if (stage().at_root() && rng_.chance(0.4)) return kBlocks[rng_.below(std::size(kBlocks))];
    return kThreads[rng_.below(std::size(kThreads))];
  }
  Step compute_at() {
    const auto consumers = state_.consumers_of(index_);
    const int host = consumers.empty() ? index_ : consumers[rng_.below(consumers.size())];
    const StageState& found = *state_.stages[host];
    const bool outer = !found.at_root() && rng_.chance(0.3);
    const StageState& at = outer ? *state_.stages[state_.find(found.at_stage)] : found;
    return ComputeAt{name(), at.stage.name, loop_of(at)};
  }
  // Of a stage in shared memory, if there is one.
  Step pipeline() {
    const auto count = static_cast<int>(state_.stages.size());
    for (int i = 0; i < count && !is_shared(stage()); ++i) index_ = (index_ + 1) % count;
    return Pipeline{name(), rng_.between(2, 4)};
  }
  Step cache_read() {
    const auto& reads = stage().accesses;
    if (reads.empty()) return Root{name()};
    return CacheRead{reads[rng_.below(reads.size())].buffer->name, name()};
  }

  Rng& rng_;
  const State& state_;
  int index_ = 0;
};

bool parallel(const Step& step) { return std::holds_alternative<Parallel>(step); }

// Whether the state has bounds and is not too large to run.
bool acceptable(const State& state) {
  const auto cost = cost_of(state);
  if (!cost.ok() || cost->iterations > kMostIterations || cost->copies > 200) return false;
  const auto bounds = infer_bounds(state, Mins::Leave);
  std::map<std::string, std::int64_t> axes;
  for (std::size_t i = 0; i < state.stages.size(); ++i) {
    const StageState& stage = *state.stages[i];
    for (int loop : stage.loops) {
      if (stage.iters[loop].kind != ir::LoopKind::Bound) continue;
      auto& extent = axes[stage.iters[loop].axis];
      extent = std::max(extent, (*bounds)[i].iters[loop]);
    }
  }
  std::int64_t threads = 1;
  for (const auto& [axis, extent] : axes) {
    if (!is_block_axis(axis)) threads *= extent;
  }
  return threads <= kMostThreads &&
         cost->iterations * static_cast<double>(threads) <= 40 * kMostIterations;
}

bool has_barrier(const ir::Kernel& kernel) {
  bool found = false;
  ir::visit(
      kernel.body, [&](const ir::Stmt& s) { found |= ir::as<ir::Barrier>(s) != nullptr; },
      [](const ir::Expr&) {});
  return found;
}

// One line: "agreed", with " shared", " barriers" and " pipelines" where they are; "none"; or
// "wrong WHY".
std::string verdict_of(std::uint64_t seed) {
  const LaunchCase c = random_launch_case(seed);
  if (c.trace.empty()) return "none\n";
  const auto describe = [&](const std::string& why) {
    return fmt::format("wrong seed {}: {}\n{}\n{}trace:\n{}", seed, c.subject.name, why,
                       ir::to_string(c.subject.program), to_string(c.trace));
  };
  const auto state = replay(c.subject.program, c.trace);
  if (!state.ok()) return describe(state.error().message);
  lower::Options options;
  options.pipeline = lower::launch_pipeline();
  const auto lowered = lower::lower(*state, options);
  // Memory that is prepared ahead of time must be global, and so on.
  if (!lowered.ok()) return "none\n";
  const auto reference = make_reference(c.subject.reference, seed);
  if (!reference.ok()) return describe(reference.error().message);
  const Status status =
      check_trace(c.subject.program, c.trace, {}, *reference, c.subject.tolerance, Way::Launched);
  if (!status.ok()) return describe(status.error().message);
  const bool shared = std::any_of(state->stages.begin(), state->stages.end(),
                                  [](const auto& stage) { return is_shared(*stage); });
  const bool ahead = std::any_of(state->stages.begin(), state->stages.end(),
                                 [](const auto& stage) { return stage->buffers > 1; });
  return fmt::format("agreed{}{}{}\n", shared ? " shared" : "",
                     has_barrier(lowered->main) ? " barriers" : "", ahead ? " pipelines" : "");
}

}  // namespace

Trace random_launch_trace(Rng& rng, const ir::Program& program) {
  State state = initial_state(program);
  Trace trace;
  const auto attempt = [&](const Step& step) {
    if (parallel(step)) return;
    State next = state;
    if (!perform(next, step).ok() || !acceptable(next)) return;
    state = std::move(next);
    trace.push_back(step);
  };
  const auto before = rng.below(14), after = 12 + rng.below(60);
  for (std::uint64_t i = 0; i < before; ++i) attempt(random_step(rng, state));
  for (std::uint64_t i = 0; i < after; ++i) {
    attempt(rng.chance(0.1) ? random_step(rng, state) : LaunchStepMaker(rng, state).make());
  }
  return has_bound_loops(state) ? trace : Trace{};
}

LaunchCase random_launch_case(std::uint64_t seed) {
  Rng rng(seed);
  target::Target target;
  target.threads = 1;
  LaunchCase made{random_subject(rng, target), {}};
  made.trace = random_launch_trace(rng, made.subject.program);
  return made;
}

LaunchCounts compare_random_launches(std::uint64_t seed, std::int64_t wanted) {
  constexpr std::uint64_t kTogether = 20;  // cases of one child process
  LaunchCounts counts;
  for (; counts.agreed < wanted && counts.failures.empty(); seed += kTogether) {
    std::uint64_t reached = seed;
    const IsolatedResult result = run_isolated(
        [&](const Note& note) {
          for (std::uint64_t i = 0; i < kTogether; ++i) note(verdict_of(seed + i) + "\f");
        },
        600);
    std::string_view text = result.notes;
    for (std::size_t end = 0; (end = text.find('\f')) != std::string_view::npos; ++reached) {
      const std::string line(text.substr(0, end));
      text.remove_prefix(end + 1);
      if (line.starts_with("wrong")) counts.failures.push_back(line);
      if (!line.starts_with("agreed")) continue;
      ++counts.agreed;
      counts.shared += line.find(" shared") != std::string::npos;
      counts.barriers += line.find(" barriers") != std::string::npos;
      counts.pipelines += line.find(" pipelines") != std::string::npos;
    }
    if (!result.failure.empty()) {
      counts.failures.push_back(fmt::format("seed {}: {}", reached, result.failure));
    }
  }
  return counts;
}

}  // namespace attune::test
