// What became of a schedule that a task could not be compiled with. A model always compiles, since
// another schedule takes its place; that this happened, and why, is told.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace attune::model {

struct Fallback {
  std::string key = {}, task = {};     // of the task
  std::string wanted = {}, used = {};  // kinds of schedules: "recorded", "default", "plain"
  std::string reason = {};             // why the wanted one failed
};

using Fallbacks = std::vector<Fallback>;

// "task af08756dce7f6632 'dense+add 1x10': its recorded schedule gave way to the default one: …".
std::string describe(const Fallback& fallback);
// One line about all of them, with the first as the example; empty when there are none.
std::string summarize(const Fallbacks& fallbacks);
// A list of objects with key, name, wanted, used and reason.
nlohmann::ordered_json fallbacks_json(const Fallbacks& fallbacks);

}  // namespace attune::model
