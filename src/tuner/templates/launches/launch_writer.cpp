#include "tuner/templates/launches/launch_writer.h"

#include <algorithm>
#include <utility>

#include "tuner/space/launch_shape.h"

namespace attune::templates {

using schedule::StageState;

namespace {

// With what of these steps goes well.
space::Written begin(const ir::Program& program, const schedule::Trace& begun) {
  space::Written written{{}, schedule::initial_state(program)};
  for (const schedule::Step& step : begun) {
    schedule::State next = *written.state;
    if (!schedule::perform(next, step).ok()) continue;
    written.state = std::move(next);
    written.trace.push_back(step);
  }
  return written;
}

}  // namespace

LaunchWriter::LaunchWriter(const space::Subject& subject, const schedule::Trace& begun,
                           const target::LaunchFacts& device)
    : device_(device) {
  const auto first = subject.findings.of<space::Written>(
      subject.program, schedule::to_string(begun), [&] { return begin(subject.program, begun); });
  state_ = safe_ = *first->state;
  trace_ = first->trace;
  safe_length_ = trace_.size();
}

const StageState& LaunchWriter::stage(const std::string& name) const {
  const int index = state_.find(name);
  CHECK(index >= 0, "no stage '" + name + "' to schedule");
  return *state_.stages[static_cast<std::size_t>(index)];
}

schedule::Names LaunchWriter::loops(const std::string& name, bool reduce) const {
  schedule::Names names;
  const StageState& found = stage(name);
  for (const int loop : found.loops) {
    const schedule::Iter& iter = found.iters[static_cast<std::size_t>(loop)];
    if (iter.reduce == reduce) names.push_back(iter.name);
  }
  return names;
}

std::optional<schedule::Extents> LaunchWriter::axes(const std::string& name) const {
  auto bounds = schedule::infer_bounds(state_, schedule::Mins::Leave);
  const int index = state_.find(name);
  if (!bounds.ok() || index < 0) return std::nullopt;
  return std::move((*bounds)[static_cast<std::size_t>(index)].axes);
}

// In place: a copy of the state for each step would be one of the stage that it changes. One that
// fails may have changed something by then.
bool LaunchWriter::perform(const schedule::Step& step) {
  if (schedule::perform(state_, step).ok()) {
    trace_.push_back(step);
    return true;
  }
  state_ = safe_;
  for (std::size_t i = safe_length_; i < trace_.size(); ++i) {
    CHECK(schedule::perform(state_, trace_[i]).ok(), "what went well goes well again");
  }
  return false;
}

bool LaunchWriter::together(const std::function<bool()>& steps) {
  return attempt([&] { return steps() && fits_device(); });
}

bool LaunchWriter::attempt(const std::function<bool()>& steps) {
  schedule::State before = std::exchange(safe_, state_);
  const std::size_t length = trace_.size(), before_length = std::exchange(safe_length_, length);
  const bool done = steps();
  if (!done) {
    state_ = std::move(safe_);
    trace_.resize(length);
  }
  safe_ = std::move(before);
  safe_length_ = before_length;
  return done;
}

bool LaunchWriter::fits_device() const {
  const auto bounds = schedule::infer_bounds(state_, schedule::Mins::Leave);
  if (!bounds.ok()) return false;
  const auto shapes = space::launch_shapes(state_, *bounds);
  return std::all_of(shapes.begin(), shapes.end(), [&](const space::LaunchShape& shape) {
    return !shape.too_many_blocks() && shape.thread_count() <= device_.threads_per_block &&
           shape.shared_bytes <= device_.shared_bytes &&
           shape.register_bytes <= device_.register_bytes;
  });
}

std::string LaunchWriter::fused(const std::string& name, const schedule::Names& names) {
  if (names.size() == 1) return names[0];
  const auto position = static_cast<std::size_t>(std::max(0, stage(name).find_loop(names.front())));
  if (!perform(schedule::Fuse{name, names})) return names[0];
  const StageState& after = stage(name);
  return after.iters[static_cast<std::size_t>(after.loops[position])].name;
}

}  // namespace attune::templates
