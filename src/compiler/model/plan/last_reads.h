// When the values of a graph are read for the last time, in the order of its groups.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/model/model_tasks.h"

namespace attune::model {

class LastReads {
 public:
  explicit LastReads(const GraphTasks& tasks);

  // Whether `output`, which this group computes, may take the memory of `input`: both have memory
  // of their own within the graph and are as large, and no later group reads the input.
  bool gives_way(graph::ValueId input, graph::ValueId output, std::size_t group) const;

 private:
  bool owns_memory(graph::ValueId id) const;

  const GraphTasks& tasks_;
  std::vector<bool> outside_;      // by value: what lies in it comes from or goes to elsewhere
  std::vector<std::size_t> last_;  // by value: the group that reads it, or what lies in it, last
};

}  // namespace attune::model
