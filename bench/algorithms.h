// The algorithms of an operator that compete, as programs of a space.
#pragma once

#include <vector>

#include "compiler/frontend/op_spec/op_spec.h"
#include "tuner/space/template_space.h"

namespace attune {

inline std::vector<space::NamedProgram> algorithms_of(const op_spec::OpTask& task) {
  std::vector<space::NamedProgram> programs;
  if (task.algorithm == "auto" || task.algorithm == "direct") {
    programs.push_back({"direct", task.program});
  }
  for (const auto& other : task.alternatives) programs.push_back({other.name, other.program});
  return programs;
}

}  // namespace attune
