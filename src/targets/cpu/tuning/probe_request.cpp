#include "targets/cpu/tuning/probe_request.h"
#include "compiler/kernel/kernel.h"

#include <utility>

namespace attune::cpu {
namespace {

probe::Buffer buffer_of(const kernel::Parameter& parameter, bool is_preparation, bool cold) {
  probe::Buffer buffer;
  buffer.type = parameter.type;
  buffer.elements = parameter.elements;
  switch (parameter.kind) {
    case kernel::ParameterKind::Input:
      buffer.fill_index = parameter.index;
      break;
    case kernel::ParameterKind::Constant:
      buffer.role = probe::Role::Constant;
      buffer.fill_index = parameter.index;
      buffer.rotate = cold;
      break;
    case kernel::ParameterKind::Prepared:
      if (is_preparation) {
        buffer.role = probe::Role::Output;
      } else {
        buffer.role = probe::Role::Constant;
        buffer.prepared = parameter.index;
        buffer.rotate = cold;
      }
      break;
    case kernel::ParameterKind::Output:
      buffer.role = probe::Role::Output;
      break;
  }
  return buffer;
}

}  // namespace

probe::Candidate probe_request(const measure::BuiltCandidate& built, std::uint64_t seed,
                               bool cold) {
  CHECK(built.main != nullptr, "a candidate that was not built cannot be run");
  probe::Candidate candidate;
  candidate.object = built.main->object;
  candidate.symbol = built.main->symbol;
  candidate.workspace_bytes = built.main->workspace_bytes;
  candidate.threads = built.threads;
  candidate.seed = seed;
  for (const kernel::Parameter& parameter : built.main->parameters) {
    candidate.buffers.push_back(buffer_of(parameter, false, cold));
  }
  if (built.prepare != nullptr) {
    auto preparation = std::make_shared<probe::Preparation>();
    preparation->id = built.prepare->id;
    preparation->object = built.prepare->object;
    preparation->symbol = built.prepare->symbol;
    preparation->workspace_bytes = built.prepare->workspace_bytes;
    for (const kernel::Parameter& parameter : built.prepare->parameters) {
      preparation->buffers.push_back(buffer_of(parameter, true, false));
    }
    candidate.preparation = std::move(preparation);
  }
  return candidate;
}

}  // namespace attune::cpu
