#include <fmt/format.h>

#include <algorithm>

#include "base/match.h"
#include "compiler/ir/interpret/launch_runner.h"

namespace attune::ir {

void LaunchRunner::each(const Threads& threads, const Work& work,
                        const std::function<void(Frame&)>& run_one, std::int64_t cycles) {
  steps_ += std::ssize(threads);
  if (options_.most_steps > 0 && steps_ > options_.most_steps) {
    failure_ = Error{ErrorCode::Exhausted,
                     fmt::format("not done after {} steps of its threads", options_.most_steps),
                     "use a smaller model, or allow more time"};
    return;
  }
  std::size_t i = 0;
  while (i < threads.size() && !failure_) {
    const int warp = threads[i] / options_.warp;
    touched_count_ = 0;
    for (; i < threads.size() && threads[i] / options_.warp == warp && !failure_; ++i) {
      run_one(frames_[static_cast<std::size_t>(threads[i])]);
    }
    if (options_.meter) {
      options_.meter->step(warp, work, {touched_.data(), touched_count_}, cycles);
    }
  }
}

void LaunchRunner::run(const Code& code, const Threads& threads) {
  if (failure_ || threads.empty()) return;
  std::visit(Match{
                 [&](const LoopCode& x) { loop(x, code.work, threads); },
                 [&](const StoreCode& x) {
                   each(threads, code.work, [&](Frame& frame) { run_store(x, frame); });
                 },
                 [&](const SequenceCode& x) {
                   for (const CodePtr& step : x.steps) run(*step, threads);
                 },
                 [&](const BranchCode& x) { branch(x, code.work, threads); },
                 [&](const AllocateCode& x) { allocate(x, threads); },
                 [&](const LetCode& x) {
                   each(threads, code.work,
                        [&](Frame& frame) { frame.variables[x.slot] = x.value->run(frame, 0); });
                   run(*x.body, threads);
                 },
                 [&](const EvaluateCode& x) { evaluate(x, code.work, threads); },
                 [&](const BarrierCode&) { barrier(threads); },
             },
             code.kind);
}

void LaunchRunner::evaluate(const EvaluateCode& x, const Work& work, const Threads& threads) {
  if (x.async && x.async->by_warpgroups()) return order_matrices(*x.async, work, threads);
  if (x.async) return asynchronous(*x.async, work, threads);
  if (x.bulk) return bulk(*x.bulk, work, threads);
  if (x.matrix) return by_warpgroups(*x.matrix, work, threads);
  if (x.call && x.call->lanes() > 0) return by_warps(*x.call, work, threads);
  each(
      threads, work, [&](Frame& frame) { run_evaluate(x, frame); }, x.call ? x.call->cycles() : 0);
}

void LaunchRunner::loop(const LoopCode& x, const Work& work, const Threads& threads) {
  if (!x.axis.empty()) {
    failure_ = invalid(
        fmt::format("loop '{}' is bound to {}, but stands inside of other statements of its launch",
                    x.name, x.axis));
    return;
  }
  std::vector<std::int64_t> min(frames_.size()), extent(frames_.size());
  std::int64_t longest = 0;
  each(threads, work, [&](Frame& frame) {
    const auto t = static_cast<std::size_t>(frame.thread);
    min[t] = x.min->run(frame, 0).i;
    extent[t] = x.extent->run(frame, 0).i;
    longest = std::max(longest, extent[t]);
  });
  constexpr Work kStep{2, 0};  // count and compare
  for (std::int64_t i = 0; i < longest && !failure_; ++i) {
    Threads inside;
    for (int t : threads) {
      if (i >= extent[static_cast<std::size_t>(t)]) continue;
      inside.push_back(t);
      frames_[static_cast<std::size_t>(t)].variables[x.slot].i =
          min[static_cast<std::size_t>(t)] + i;
    }
    if (options_.meter) each(inside, kStep, [](Frame&) {});
    run(*x.body, inside);
  }
}

void LaunchRunner::branch(const BranchCode& x, const Work& work, const Threads& threads) {
  Threads yes, no;
  each(threads, work,
       [&](Frame& frame) { (x.condition->run(frame, 0).i ? yes : no).push_back(frame.thread); });
  run(*x.then_body, yes);
  if (x.else_body) run(*x.else_body, no);
}

void LaunchRunner::allocate(const AllocateCode& x, const Threads& threads) {
  const Scope scope = x.buffer->scope;
  if (scope == Scope::Global) {
    failure_ =
        invalid(fmt::format("global buffer '{}' is allocated inside of a launch", x.buffer->name));
    return;
  }
  if (scope == Scope::Shared) {
    // One place per block: what was there before may still be read by others.
    auto& memory = shared_[x.slot];
    if (!memory) memory = new_memory(*x.buffer, true);
    std::fill(memory->written.begin(), memory->written.end(), 0);
    for (int t : threads) frames_[static_cast<std::size_t>(t)].memories[x.slot] = memory;
  } else {
    for (int t : threads) {
      auto& memory = frames_[static_cast<std::size_t>(t)].memories[x.slot];
      if (memory && memory.use_count() == 1) {
        std::fill(memory->written.begin(), memory->written.end(), 0);
      } else {
        memory = new_memory(*x.buffer, false);
      }
    }
  }
  run(*x.body, threads);
}

void LaunchRunner::barrier(const Threads& threads) {
  if (threads.size() != frames_.size()) {
    int missing = 0;
    while (missing < static_cast<int>(threads.size()) &&
           threads[static_cast<std::size_t>(missing)] == missing) {
      ++missing;
    }
    findings_.add(FindingKind::DivergentBarrier, "",
                  fmt::format("{} does not reach a barrier that {} waits at",
                              now_.thread_text(missing), now_.thread_text(threads[0])));
  }
  ++now_.phase;
  if (options_.meter) options_.meter->barrier();
}

}  // namespace attune::ir
