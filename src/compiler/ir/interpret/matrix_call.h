// A call of a tensor intrinsic of a warpgroup. Its lanes run it together: the instruction reads two
// matrices of shared memory, which lie as its declaration says, and adds to what each lane holds.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/interpret/tensor_meaning.h"

namespace attune::ir {

class MatrixCall {
 public:
  struct Read {
    const Access* access;
    std::int64_t position;
  };

  static Result<MatrixCall> compile(const Opaque& call, const TensorIntrinsic& intrinsic,
                                    Evaluator& evaluator);
  // Computes all results at once, and says what was read in shared memory. Whoever watches the
  // first and the last lane hears of the reads.
  void run(const std::vector<Frame*>& lanes, std::vector<Read>& reads) const;

  const std::string& name() const { return name_; }
  std::int64_t cycles() const { return cycles_; }
  const Access& result() const { return *result_; }

 private:
  using Tile = TensorMeaning::Tile;
  struct Input {
    const Access* access = nullptr;
    std::vector<std::int64_t> own_steps;              // by lane
    std::vector<std::vector<std::int64_t>> distance;  // from the first element, by step and element
  };

  bool gather(const Input& input, const std::vector<Frame*>& lanes, std::vector<Tile>& steps,
              std::vector<Read>& reads) const;
  // Where the results of a lane are; false after a failure.
  bool locate_results(Frame& frame, std::vector<std::int64_t>& positions) const;

  std::string name_;
  std::int64_t cycles_ = 0;
  const Access* result_ = nullptr;
  std::vector<std::int64_t> result_shape_, result_strides_;
  std::vector<Input> inputs_;
  TensorMeaning meaning_;
};

}  // namespace attune::ir
