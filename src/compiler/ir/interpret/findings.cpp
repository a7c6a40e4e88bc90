#include "compiler/ir/interpret/findings.h"

#include <algorithm>

namespace attune::ir {

std::string_view to_string(FindingKind kind) {
  switch (kind) {
    case FindingKind::MissingBarrier:
      return "missing barrier";
    case FindingKind::WriteRace:
      return "write race";
    case FindingKind::BlockRace:
      return "block race";
    case FindingKind::DivergentBarrier:
      return "divergent barrier";
    case FindingKind::DivergentWarp:
      return "divergent warp";
    case FindingKind::OutOfBounds:
      return "out of bounds";
    case FindingKind::OutOfScope:
      return "out of scope";
    case FindingKind::Uninitialised:
      return "uninitialised";
    case FindingKind::PendingCopy:
      return "pending copy";
    case FindingKind::UnwaitedCopy:
      return "unwaited copy";
    case FindingKind::Misaligned:
      return "misaligned";
    case FindingKind::EndlessWait:
      return "endless wait";
    case FindingKind::PendingMatrix:
      return "pending matrix";
    case FindingKind::UnwaitedMatrix:
      return "unwaited matrix";
    case FindingKind::MissingFence:
      return "missing fence";
    case FindingKind::LaunchLimit:
      return "launch limit";
  }
  return "unknown";
}

bool Findings::has(FindingKind kind, const std::string& buffer) const {
  return std::find(seen_.begin(), seen_.end(), std::pair(kind, buffer)) != seen_.end();
}

void Findings::add(FindingKind kind, const std::string& buffer, std::string text) {
  if (has(kind, buffer)) return;
  seen_.emplace_back(kind, buffer);
  list_.push_back({kind, std::move(text)});
}

}  // namespace attune::ir
