// The state that steps work on: the stages of a program, each with its loops, where it is computed
// and how it is stored. A value with shared structure: copying it copies a list of pointers, and a
// step clones only the stage that it changes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/stmt.h"
#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/ir/simplify/linear.h"

namespace attune::schedule {

using Notes = std::vector<std::pair<std::string, std::string>>;

// A loop, or an axis that was split or fused away.
struct Iter {
  std::string name;
  bool reduce = false;
  ir::LoopKind kind = ir::LoopKind::Serial;
  Notes notes;
  std::string axis = {};  // of a Bound loop, "block.x" or "thread.x"
};

// Indices refer to StageState::iters.
struct SplitRelation {
  int parent;
  std::vector<int> children;          // outermost first
  std::vector<std::int64_t> factors;  // of children[1…]
};
struct FuseRelation {
  std::vector<int> parents;  // outermost first
  int child;
};
using Relation = std::variant<SplitRelation, FuseRelation>;

// One dimension of a read: linear in the axes of the reading stage, or any other expression of
// them.
struct AccessDim {
  bool linear = false;
  std::vector<std::pair<int, std::int64_t>> terms;  // (axis or reduce axis, coefficient)
  std::int64_t constant = 0;
  ir::Expr index;  // when not linear
};
struct Access {
  ir::Buffer buffer;
  std::vector<AccessDim> dims;
};

struct LayoutTerm {
  int axis;
  std::int64_t divide = 1;
  std::int64_t modulo = 0;  // 0: none
};

// Rows in memory are lengthened to the next length that is `offset` modulo `factor`.
struct RowPadding {
  std::int64_t factor = 1;
  std::int64_t offset = 0;
};

struct StageState {
  ir::Stage stage;
  std::vector<Iter> iters;  // first the axes, then the reduce axes, then what steps made of them
  std::vector<Relation> relations;  // in the order they were made
  std::vector<int> loops;           // the present loops, outermost first
  std::string at_stage, at_loop;    // empty: computed at root
  std::optional<ir::Scope> scope;
  std::vector<LayoutTerm> layout;  // empty: row-major
  RowPadding padding;
  std::int64_t gap = 0;   // elements between what lies under indices of the first dimension
  int buffers = 1;        // more: it is fetched that many iterations less one ahead
  int tensorized = -1;    // the outermost loop (an iter) that is part of an intrinsic
  std::string intrinsic;  // its name
  Notes notes;
  std::vector<Access> accesses;  // distinct reads of the stage's values

  int find_loop(std::string_view name) const;  // position in loops, or -1
  bool at_root() const { return at_stage.empty(); }
  bool untouched() const;          // no step changed it
  std::string loop_names() const;  // "oc.0, oh, ow", for errors
};

const std::string* find_note(const Notes& notes, std::string_view key);

struct State {
  std::string name;
  std::vector<ir::Input> inputs;
  std::vector<ir::Buffer> outputs;
  std::vector<std::shared_ptr<const StageState>> stages;  // producers before consumers

  int find(std::string_view stage) const;           // index, or -1
  int producer_of(const ir::Buffer& buffer) const;  // index, or -1 for an input
  std::vector<int> consumers_of(int stage) const;   // indices
  bool is_output(int stage) const;
  // The stage, cloned if others hold it too. All stages are allocated as plain StageStates.
  StageState& edit(int stage);
};

State initial_state(const ir::Program& program);
// The program as it stands after the steps that rewrite it (inline, cache_*, rfactor).
ir::Program program_of(const State& state);
// A stage with its root loops and accesses, computed at root.
StageState make_stage_state(ir::Stage stage);

// Whether `stage` runs within the loop at `position` of `host`: it is the host, or attached
// (through others) at that loop or inside of it.
bool runs_within(const State& state, int stage, int host, int position);

// Lookups whose errors say which stages or loops there are.
Result<int> require_stage(const State& state, const std::string& stage);
Result<int> require_loop(const StageState& stage, const std::string& loop);  // position

}  // namespace attune::schedule
