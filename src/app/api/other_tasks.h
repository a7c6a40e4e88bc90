// What a tuning run starts from besides the records of its own tasks: those of all others, in its
// own store and in one that the user names.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/ir/target.h"
#include "tuner/session/history.h"

namespace attune::api {

// `history` is the option --history: empty, a path or "none", which teaches nothing. The tasks with
// the keys `except` are left out.
Result<session::LoadedHistory> learn_from_others(records::Store& own, const std::string& history,
                                                 const ir::Target& target,
                                                 std::vector<std::string> except);

}  // namespace attune::api
