// Writes the plan of a model: the buffers of its values and the instructions over them, graph by
// graph. Control flow (if, loop) is in plan_control.cpp, the rest in plan_builder.cpp.
#pragma once

#include <vector>

#include "compiler/model/ahead.h"
#include "compiler/model/model_tasks.h"
#include "compiler/model/plan/last_reads.h"
#include "compiler/model/plan/plan_memory.h"
#include "compiler/model/plan/plan_scope.h"
#include "compiler/model/plan/weights.h"

namespace attune::model {

class PlanWriter {
 public:
  PlanWriter(const ModelTasks& tasks, const std::vector<SharedKernel>& kernels, AheadRunner& ahead,
             runtime::Plan& plan, Weights& weights)
      : tasks_(tasks), kernels_(kernels), ahead_(ahead), plan_(plan), weights_(weights) {}

  Status write();

 private:
  using Graph = graph::Graph;
  using Node = graph::Node;
  using ValueId = graph::ValueId;
  using Block = runtime::Block;
  using BufferId = runtime::BufferId;

  // Where the inputs and outputs of a loop stand.
  struct LoopParts {
    std::size_t carried, scanned, scan_outputs, first_carried, first_scan, first_capture;
    bool has_trip_count, has_condition;
    std::int64_t max_trips;
  };

  // The same dims, whose extents have a place in the plan's table.
  std::vector<runtime::Dim> noted(std::vector<runtime::Dim> dims);
  Status add_interface(const graph::Value& value, std::vector<runtime::InterfaceTensor>& list);
  void add(Block& block, runtime::Instruction instruction);
  // Nothing when the buffers are the same.
  void add_copy(Block& block, BufferId from, BufferId to, std::int64_t bytes,
                runtime::Copy steps = {});
  // From where the value lies, which need not be where a kernel could read it.
  void add_copy_of(Block& block, const Graph& graph, ValueId id, Scope& scope, BufferId to,
                   runtime::Copy steps = {});
  Status add_groups(const GraphTasks& tasks, Scope& scope, Block& block);
  // Those operands of a concatenation that do not lie in its result already.
  void copy_operands(const Graph& graph, const Node& node, Scope& scope, Block& block);
  Status add_kernel(const GraphTasks& tasks, std::size_t at, const LastReads& reads, Scope& scope,
                    Block& block);
  // Runs the prepare kernel on the constants of this use of the task.
  Status prepare(const CompiledTask& kernel, const graph::Task& task, Scope& scope,
                 std::vector<BufferId>& prepared);
  Result<runtime::Operand> operand_of(const Graph& graph, ValueId id, Scope& scope);
  Status add_host(const Graph& graph, const Node& node, Scope& scope, Block& block);

  // A body's scope with its inputs bound; the last of them are what it captures.
  Scope body_scope(const GraphTasks& tasks, const std::vector<BufferId>& inputs);
  void touch_all(const std::vector<BufferId>& a, const std::vector<BufferId>& b,
                 const std::vector<BufferId>& c);
  Status add_if(const GraphTasks& tasks, int index, Scope& scope, Block& block);
  static LoopParts parts_of(const Node& node, const ops::OpCall& call);
  Status add_loop(const GraphTasks& tasks, int index, Scope& scope, Block& block);
  void add_slices(const ops::OpCall& call, const LoopParts& parts,
                  const std::vector<BufferId>& scans, const std::vector<BufferId>& inner_inputs,
                  const GraphTasks& body, Block& block);
  // What goes from one iteration to the next, where it lies before and behind the loop.
  std::vector<BufferId> add_state(const LoopParts& parts, const Node& node, const GraphTasks& body,
                                  Scope& scope, runtime::Loop& loop, Block& block);
  // The body, what it stacks, and what goes on to the next iteration.
  Status add_body(const ops::OpCall& call, const LoopParts& parts, const GraphTasks& body,
                  const std::vector<BufferId>& inner_inputs, const std::vector<BufferId>& state,
                  const std::vector<BufferId>& stacked, runtime::Loop& loop);

  const ModelTasks& tasks_;
  const std::vector<SharedKernel>& kernels_;
  AheadRunner& ahead_;
  runtime::Plan& plan_;
  Weights& weights_;
  PlanMemory memory_;
  std::vector<BufferId> outputs_;
  int extents_ = 0;
};

}  // namespace attune::model
