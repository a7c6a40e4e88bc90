// Where the stages of a state keep what they compute: a buffer for each of their outputs, and in it
// a place for every element that the program names.
#pragma once

#include <map>
#include <vector>

#include "compiler/ir/nodes/stmt.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/schedule/bounds.h"
#include "compiler/schedule/state.h"

namespace attune::lower {

class StagePlaces {
 public:
  // The state, the bounds of its stages and the ranges of its loops stay with their owner, which
  // may still write the latter two down in other variables. `launched`: for blocks and threads.
  StagePlaces(const schedule::State& state, const std::vector<schedule::StageBounds>& bounds,
              const ir::Ranges& ranges, bool launched);

  // Of a stage, by its outputs.
  std::vector<ir::Buffer> buffers_of(int stage) const;
  // Which stage makes a buffer of the program.
  int producer_of(const ir::Buffer& buffer) const { return producer_.at(buffer); }
  // The index in a stage's buffers of what lies at an index of the program.
  std::vector<ir::Expr> place(int stage, const std::vector<ir::Expr>& index) const;
  // An expression of the program, which reads what stages made from where they keep it.
  ir::Expr rewrite_reads(const ir::Expr& e) const;

 private:
  const schedule::State& state_;
  const std::vector<schedule::StageBounds>& bounds_;
  const ir::Ranges& ranges_;
  std::map<ir::Buffer, ir::Buffer> storage_;
  std::map<ir::Buffer, int> producer_;
};

}  // namespace attune::lower
