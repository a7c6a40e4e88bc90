// A kind of target, as its folder src/targets/NAME/facts describes it: what its text may say, how
// it is resolved, and what a program for it needs of the machine that runs it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/target/target.h"

namespace attune::target {

// What an artifact asks of the machine that runs it.
struct Requirements {
  std::string architecture = {};           // "x86_64"
  std::vector<std::string> features = {};  // of the processor, by name
  bool own_memory = false;                 // kernels work in memory of the device
};

// A library of the system that programs of a kind stand on, as `attune doctor` names it.
struct Library {
  std::string_view name;
  bool (*is_here)();
};

struct Kind {
  std::string_view name;     // as a target's text begins
  std::string_view meaning;  // for a person, in a line
  std::string_view example;  // a target in text
  std::string_view device;   // of the fleet that its candidates are measured on
  // Attributes that the text may have besides -threads, in the order of a resolved one.
  std::span<const std::string_view> attributes;
  // Fills what is left out with what this machine has, and the facts. What is resolved stays as
  // it is. A name that is not known is an error.
  Result<Target> (*resolve)(const Target& target);
  // An error says why programs for the resolved target cannot run on this machine; its threads
  // aside.
  Status (*check_runs_here)(const Target& resolved);
  Requirements (*requirements)(const Target& resolved);
  // The processor by the name under which schedules ship.
  std::string_view (*processor)(const Target& resolved);
  // The target as AutoTVM's logs write it; empty: they know no such target.
  std::string (*autotvm_text)(const Target& target);
  // Measures anew how fast this machine, which the target stands for, is, and remembers it for
  // those who resolve it later; null: it is stated.
  Result<Machine> (*measure)(const Target& resolved) = nullptr;
  // The devices of this kind that are here, in a line each for a person, looked for anew; an error
  // says why there are none. Null: it runs on the host.
  Result<std::vector<std::string>> (*devices_here)() = nullptr;
  // What of the system its devices need.
  std::span<const Library> libraries = {};
  // For a model that is written as C sources, which any compiler makes a program of: the target
  // with the facts that hold in C. Null: none is written for this kind.
  Target (*c_target)(const Target& resolved) = nullptr;
  // Whether it multiplies f32 matrices faster when factors are rounded to tf32; null: no.
  bool (*has_tf32)(const Target& resolved) = nullptr;
};

}  // namespace attune::target
