// How the operands of a product by matrix instructions come into shared memory: padded, in panels,
// by copies that run ahead.
#pragma once

#include "tuner/templates/launches/tensor_schedule.h"

namespace attune::templates {

class TensorOperand {
 public:
  // `rows` of the operand's own axis lie in a block, those of a thread `of_thread` side by side.
  TensorOperand(LaunchWriter& writer, const ProductFacts& facts, const ProductOperand& operand,
                const TensorTiling& tiling, const TensorShape& shape, std::int64_t rows,
                std::int64_t of_thread)
      : writer_(writer),
        facts_(facts),
        operand_(operand),
        tiling_(tiling),
        shape_(shape),
        rows_(rows),
        of_thread_(of_thread),
        tensor_(operand.buffer->name) {}

  // Before the product is padded: a stage of its own that `reader` alone reads. What is computed
  // from constants stays, to be packed ahead.
  bool make_own(const std::string& reader);
  // The rest, once the product has its loops: fetched at `loop` of `reader`. A stage of the program
  // that is computed right into shared memory is added to `done`.
  bool fetch(const std::string& reader, const std::string& loop, schedule::Names& done);

 private:
  bool perform(const schedule::Step& step) { return writer_.perform(step); }
  bool is_constant(const schedule::StageState& stage) const;
  std::string axis(int dimension) const;
  schedule::Names panels(const std::string& rows_first) const;
  bool pack();
  bool share_copies();
  bool bind_copies(const schedule::Names& loops);

  LaunchWriter& writer_;
  const ProductFacts& facts_;
  const ProductOperand& operand_;
  const TensorTiling& tiling_;
  const TensorShape& shape_;
  const std::int64_t rows_, of_thread_;
  const std::string tensor_;
  std::string copy_;         // the stage in shared memory
  bool ahead_ = false;       // the tensor is packed ahead of time
  bool by_program_ = false;  // the copy is a stage of the program
};

}  // namespace attune::templates
