// What a task computes, as text, so that whoever finds its records later can rebuild its schedules:
// other tasks learn from them. A store may hold records of tasks that it knows no definition of.
#pragma once

#include <string>
#include <vector>

namespace attune::records {

struct TaskDefinition {
  struct Program {
    std::string algorithm;  // "direct", or as in the step `algorithm NAME`
    std::string text;       // as ir::to_string writes it
    double tolerance = 0;   // largest error, as a fraction of the largest magnitude of the result
  };

  std::string key;
  std::string name;
  double flops = 0;
  std::vector<Program> programs;  // the direct one first, the others by name
};

}  // namespace attune::records
