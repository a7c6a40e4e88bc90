// What a tuning run starts from besides the records of its own tasks: those of all others, in its
// own store and in one that the user names, and what ships with the program.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/model/schedules/shipped.h"
#include "compiler/target/target.h"
#include "tuner/session/history.h"

namespace attune::whole_model {

// `history` is the option --history: empty, a path or "none", which teaches nothing. What `own` has
// of the task with the key `except` on this very target is left out: the session of that task finds
// it by itself. On other targets, and with another number of threads, the task is one of the
// others.
Result<session::LoadedHistory> learn_from_others(records::Store& own, const std::string& history,
                                                 const target::Target& target,
                                                 const std::string& except = {});

// The store that the option --history names; null when it names none.
Result<std::unique_ptr<records::Store>> open_history(const std::string& option);

// Copies the best of another store, so that a session finds them among what is known.
Status bring_best(records::Store& from, const records::BestQuery& query, records::Store& to);

// Copies what another store has for a task to try: its own hints, and those of other tasks around
// the same operator (logs::anchor_key; may be empty).
Status bring_hints(records::Store& from, const std::string& task_key, const std::string& anchor_key,
                   records::Store& to);

// The bundle that ships with the program; empty when the option --history is "none".
Result<model::Bundle> bundle_for(const std::string& history);
// Makes hints of the bundle's schedules that suit the task: a session tries them first.
Status hint_shipped(const model::Bundle& bundle, const model::ScheduledTask& task,
                    const std::string& task_name, const target::Target& target,
                    records::Store& store);

}  // namespace attune::whole_model
