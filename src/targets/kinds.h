// The kinds of targets there are, and what is asked of a target whatever its kind: reading its
// text, resolving it, and whether its programs run here.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "compiler/target/kind.h"
#include "compiler/target/target.h"

namespace attune::targets {

std::span<const target::Kind* const> kinds();
// The one that is meant where nobody names any: the first.
const target::Kind& default_kind();
// The resolved target of that kind that is this machine: what a compiler runs on itself.
Result<target::Target> this_machine();
// That of a target; every target that was parsed has one.
const target::Kind& kind_of(const target::Target& target);

Result<target::Target> parse(std::string_view text);
// Fills what the user left out, and the facts that schedules depend on.
Result<target::Target> resolve(const target::Target& target);

}  // namespace attune::targets
