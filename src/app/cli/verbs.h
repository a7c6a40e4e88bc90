// The commands of the program, one file each. A command parses its arguments, calls its verb and
// prints what it gets; it returns the exit status, and errors are printed by the caller.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/cli/console.h"
#include "base/result.h"

namespace attune::cli {

using Words = std::span<const std::string>;

struct Verb {
  std::string_view name;
  std::string_view summary;  // for the list of commands; empty: not in it
  Result<int> (*run)(Words arguments, Console& console);
};

#define ATTUNE_VERB(name, summary, run) Result<int> run(Words arguments, Console& console);
#include "app/cli/list.inc"

std::span<const Verb> verbs();

// Picks the command that the first word names and hands it the others. `prefix` is what the user
// typed before it ("records "), for messages.
Result<int> dispatch(std::string_view prefix, std::span<const Verb> among, Words words,
                     Console& console);

// The whole program: parses, runs, prints errors; the exit status.
int run_program(Words words);

}  // namespace attune::cli
