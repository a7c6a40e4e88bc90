#include "tuner/measure/prepared_constants.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/match.h"

namespace attune::measure {
namespace {

// A failure of the prepare kernel is one of the candidate, in the phase before its own.
runtime::Outcome as_preparation(const runtime::Outcome& outcome) {
  return std::visit(Match{[](const runtime::Timing&) -> runtime::Outcome {
                            CHECK(false, "a timing is no failure");
                          },
                          [](auto failure) -> runtime::Outcome {
                            failure.phase = runtime::Phase::Prepare;
                            return failure;
                          }},
                    outcome);
}

}  // namespace

probe::Candidate candidate_of(const KernelCode& code, int threads, std::uint64_t seed,
                              const std::vector<probe::Bytes>& prepared, bool rotate_constants) {
  probe::Candidate candidate;
  candidate.object = code.object;
  candidate.symbol = code.symbol;
  candidate.workspace_bytes = code.workspace_bytes;
  candidate.threads = threads;
  candidate.seed = seed;
  for (const Parameter& parameter : code.parameters) {
    probe::Buffer buffer;
    buffer.type = parameter.type;
    buffer.elements = parameter.elements;
    switch (parameter.kind) {
      case ParameterKind::Input:
        buffer.fill_index = parameter.index;
        break;
      case ParameterKind::Constant:
        buffer.role = probe::Role::Constant;
        buffer.fill_index = parameter.index;
        buffer.rotate = rotate_constants;
        break;
      case ParameterKind::Prepared:
        buffer.role = prepared.empty() ? probe::Role::Output : probe::Role::Constant;
        if (!prepared.empty()) {
          buffer.contents = prepared[static_cast<std::size_t>(parameter.index)];
          buffer.rotate = rotate_constants;
        }
        break;
      case ParameterKind::Output:
        buffer.role = probe::Role::Output;
        break;
    }
    candidate.buffers.push_back(std::move(buffer));
  }
  return candidate;
}

Result<std::variant<std::vector<probe::Bytes>, runtime::Outcome>> PreparedConstants::of(
    const BuiltCandidate& candidate, std::uint64_t seed, double timeout_ms, probe::Runner& runner) {
  using Answer = std::variant<std::vector<probe::Bytes>, runtime::Outcome>;
  const KernelCode& code = *candidate.prepare;
  const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.kernel == code.id && entry.seed == seed;
  });
  if (known != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, known);
    return Answer(known->buffers);
  }
  probe::Candidate request = candidate_of(code, candidate.threads, seed, {}, false);
  request.return_outputs = true;
  const probe::MeasureOptions once{.repeat_us = 0,
                                   .budget_us = 0,
                                   .min_repeats = 1,
                                   .max_repeats = 1,
                                   .timeout_ms = timeout_ms,
                                   .remeasure_on_drift = false};
  ATTUNE_ASSIGN(probe::Batch batch, runner.measure({&request, 1}, once));
  probe::Measured& measured = batch.candidates.front();
  if (!std::holds_alternative<runtime::Timing>(measured.outcome)) {
    return Answer(as_preparation(measured.outcome));
  }
  Entry entry{.kernel = code.id, .seed = seed, .buffers = {}, .bytes = 0};
  for (std::vector<std::byte>& output : measured.outputs) {
    entry.bytes += static_cast<std::int64_t>(output.size());
    entry.buffers.push_back(std::make_shared<const std::vector<std::byte>>(std::move(output)));
  }
  held_bytes_ += entry.bytes;
  entries_.push_front(std::move(entry));
  while (held_bytes_ > limit_bytes_ && entries_.size() > 1) {
    held_bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
  return Answer(entries_.front().buffers);
}

}  // namespace attune::measure
