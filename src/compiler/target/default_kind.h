// The kind of target that is meant where nobody names one: the first of the list of targets, whose
// programs run on the cores of the machine that compiles them.
#pragma once

#include <string_view>

namespace attune::target {

inline constexpr std::string_view kKindNames[] = {
#define ATTUNE_FACTS(kind) #kind,
#include "targets/list.inc"
};
inline constexpr std::string_view kDefaultKind = kKindNames[0];

}  // namespace attune::target
