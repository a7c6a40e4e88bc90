// A call of a tensor intrinsic, run as its declaration says: gathers its operands from memory,
// computes its meaning element by element, and writes the output back. One of a warp is run by all
// its lanes together: each loads its fragments of the inputs, by the declared tables, and computes
// from what all of them loaded.
#pragma once

#include <vector>

#include "compiler/ir/interpret/tensor_meaning.h"

namespace attune::ir {

class TensorCall {
 public:
  // The intrinsic must be declared and the call have the arguments that it asks for.
  static Result<TensorCall> compile(const Opaque& call, const TensorIntrinsic& intrinsic,
                                    Evaluator& evaluator);
  // By one thread, or by the lanes of a warp.
  void run(Frame& frame) const;
  void run(const std::vector<Frame*>& lanes) const;

  const std::string& name() const { return name_; }
  std::int64_t cycles() const { return cycles_; }
  int lanes() const { return lanes_; }  // 0: each thread runs it for itself

 private:
  using Tile = TensorMeaning::Tile;
  struct Operand {
    const Access* access = nullptr;
    std::vector<std::int64_t> strides, shape;
    std::int64_t step = 0;  // between lanes
    // Of warps, by lane: what it loads, and at which step it computes.
    std::vector<std::vector<FragmentPlace>> places = {};
    std::vector<std::int64_t> own_steps = {};
  };

  void add_fragments(const WarpForm& warp);
  // Reads or writes the elements of an operand that is all the thread's; false after a failure.
  bool read_all(const Operand& operand, Frame& frame, Tile& tile) const;
  void write_all(const Operand& operand, Frame& frame, const Tile& tile) const;
  // What all lanes load of an input, by step; false after a failure.
  bool gather(const Operand& operand, const std::vector<Frame*>& lanes,
              std::vector<Tile>& steps) const;
  static bool read(const Operand& operand, Frame& frame, std::int64_t position, Value& value);
  template <typename Each>
  static void visit(const Operand& operand, Frame& frame, const char* action, Each&& each);

  std::string name_;
  std::int64_t cycles_ = 0;
  int lanes_ = 0;
  std::vector<Operand> operands_;  // the output first
  TensorMeaning meaning_;
};

}  // namespace attune::ir
