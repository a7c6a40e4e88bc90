#include "runtime/execution/stretches.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/match.h"

namespace attune::runtime {
namespace {

class Finder {
 public:
  Finder(const Plan& plan, bool staged) : plan_(plan), staged_(staged) {}

  std::unordered_map<const Instruction*, Stretch> find() && {
    look_at(plan_.body);
    return std::move(found_);
  }

 private:
  // What a recordable instruction does; nothing that is not.
  struct Work {
    bool recordable = false;
    std::int64_t calls = 0;  // of kernels
    bool downloads = false;
  };

  const Buffer& buffer(BufferId id) const { return plan_.buffers[static_cast<std::size_t>(id)]; }

  Work work_of(const KernelCall& call) const {
    for (const BufferId id : call.buffers) {
      if (changing_.contains(id)) return {};
    }
    return {.recordable = true, .calls = 1};
  }

  // In a loop that is not recorded as a whole the iteration changes.
  Work work_of(const Copy& copy, bool iterates) const {
    if (changing_.contains(copy.from) || changing_.contains(copy.to)) return {};
    if (iterates && (copy.from_step != 0 || copy.to_step != 0)) return {};
    const Buffer& from = buffer(copy.from);
    const Buffer& to = buffer(copy.to);
    if (from.space == Space::Host && to.space == Space::Host) return {};
    if (from.space == Space::Host && !(staged_ && from.place == Place::Input)) return {};
    if (to.space == Space::Host && !(staged_ && to.place == Place::Output)) return {};
    return {.recordable = true, .downloads = to.space == Space::Host};
  }

  // A loop that needs nothing of the host is all its iterations in order.
  Work work_of(const Loop& loop) const {
    const bool is_fixed = loop.trip_count >= 0 && loop.trip_count_buffer == kNone &&
                          loop.condition == kNone && loop.iteration == kNone &&
                          loop.iterations_extent == kNone;
    if (!is_fixed) return {};
    for (const auto& [now, next] : loop.handovers) {
      if (changing_.contains(now) || changing_.contains(next)) return {};
    }
    Work all{.recordable = true};
    for (const Instruction& instruction : loop.body) {
      const Work one = work_of(instruction, false);
      if (!one.recordable) return {};
      all.calls += one.calls;
      all.downloads |= one.downloads;
    }
    // Copies count too where nothing else does.
    const auto times = static_cast<std::int64_t>(loop.body.size()) + all.calls;
    if (times > 0 && loop.trip_count > kMostRecordedCalls / times) return {};
    all.calls *= loop.trip_count;
    return all;
  }

  Work work_of(const Instruction& instruction, bool iterates) const {
    return std::visit(
        Match{[&](const KernelCall& call) { return work_of(call); },
              [](const HostCall&) { return Work(); },
              [&](const Copy& copy) { return work_of(copy, iterates); },
              [](const If&) { return Work(); }, [&](const Loop& loop) { return work_of(loop); }},
        instruction.kind);
  }

  void look_at(const Block& block) {
    for (std::size_t i = 0; i < block.size();) {
      Stretch stretch{.end = i};
      for (; stretch.end < block.size(); ++stretch.end) {
        const Work work = work_of(block[stretch.end], depth_ > 0);
        if (!work.recordable || stretch.calls + work.calls > kMostRecordedCalls) break;
        stretch.calls += work.calls;
        stretch.downloads |= work.downloads;
      }
      const std::size_t end = stretch.end;
      if (stretch.calls > 0) found_.emplace(&block[i], std::move(stretch));
      if (end == i) look_within(block[i]);
      i = std::max(end, i + 1);
    }
  }

  // Blocks of an instruction that is not recorded.
  void look_within(const Instruction& instruction) {
    std::visit(Match{[](const KernelCall&) {}, [](const HostCall&) {}, [](const Copy&) {},
                     [&](const If& branch) {
                       look_at(branch.then_block);
                       look_at(branch.else_block);
                     },
                     [&](const Loop& loop) {
                       const std::set<BufferId> before = changing_;
                       for (const auto& [now, next] : loop.handovers) changing_.insert({now, next});
                       ++depth_;
                       look_at(loop.body);
                       --depth_;
                       changing_ = before;
                     }},
               instruction.kind);
  }

  const Plan& plan_;
  const bool staged_;
  int depth_ = 0;                // of loops that are not recorded
  std::set<BufferId> changing_;  // whose addresses such loops exchange
  std::unordered_map<const Instruction*, Stretch> found_;
};

}  // namespace

std::unordered_map<const Instruction*, Stretch> stretches_of(const Plan& plan, bool staged) {
  return Finder(plan, staged).find();
}

Result<std::unique_ptr<Recording>> record(Stream& stream, const std::function<Status()>& work) {
  ATTUNE_RETURN_IF_ERROR(stream.begin_recording());
  const Status noted = work();
  auto recording = stream.end_recording();
  ATTUNE_RETURN_IF_ERROR(noted);
  return recording;
}

Stretch* Session::State::stretch_at(const Instruction& instruction) {
  if (profile != nullptr) return nullptr;
  const auto found = stretches.find(&instruction);
  return found == stretches.end() ? nullptr : &found->second;
}

Status Session::State::run(Stretch& stretch, std::span<const Instruction> instructions,
                           std::int64_t iteration) {
  Stretch::Take& take = stretch.takes[kernels_only ? 1 : 0];
  if (take.has_run && take.recording == nullptr && !take.refused) {
    // What cannot be recorded is done one by one, and then says what is wrong with it.
    auto recorded = record(*stream, [&] { return run(instructions, iteration); });
    if (recorded.ok()) take.recording = std::move(recorded).value();
    take.refused = take.recording == nullptr;
  }
  if (take.recording == nullptr) {
    take.has_run = true;
    return run(instructions, iteration);
  }
  ATTUNE_RETURN_IF_ERROR(stream->replay(*take.recording));
  return stretch.downloads && !kernels_only ? stream->wait() : Status();
}

}  // namespace attune::runtime
