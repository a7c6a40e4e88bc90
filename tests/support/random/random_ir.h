// Random pieces of IR for property tests: index arithmetic, conditions, values and kernels that are
// well typed and never access memory out of bounds.
#pragma once

#include <string>
#include <vector>

#include "base/rng.h"
#include "compiler/ir/simplify/simplify.h"

namespace attune::test {

struct Variable {
  std::string name;
  ir::Interval interval;
};

class RandomIr {
 public:
  explicit RandomIr(std::uint64_t seed) : rng_(seed) {}

  // Makes one to four variables with small intervals, negative values included.
  const std::vector<Variable>& make_variables();
  const std::vector<Variable>& variables() const { return variables_; }
  ir::Ranges ranges() const;
  // A point of the variables' intervals.
  std::vector<std::int64_t> point();

  // Scalars over the variables. Divisors are constants other than 0.
  ir::Expr index(int depth);
  ir::Expr condition(int depth);
  // A vector of indices or of conditions.
  ir::Expr vector_index(int depth, int lanes);
  ir::Expr vector_condition(int depth, int lanes);
  // Any type, with every kind of node; only good for printing.
  ir::Expr anything(ir::DType type, int depth);
  // A kernel with parameters "A" (f32, read) and "B" (f32, written), whatever the random choices.
  ir::Kernel kernel(int depth);
  // Statements of every kind, only good for printing.
  ir::Stmt any_stmt(int depth);

  Rng& rng() { return rng_; }
  // Those that `anything` and `any_stmt` used.
  const std::vector<ir::Buffer>& buffers() const { return buffers_; }

 private:
  ir::Expr leaf();
  std::int64_t divisor();
  ir::Stmt nest(int depth, const ir::Buffer& from, const ir::Buffer& to);
  ir::Expr wrapped_index(int depth, std::int64_t extent);
  ir::Buffer known_buffer(const std::string& name, ir::DType type, std::vector<std::int64_t> shape);
  ir::Expr any_leaf(ir::DType type);
  ir::Expr any_bool(int depth, int lanes);
  std::string fresh_name();

  Rng rng_;
  std::vector<Variable> variables_;
  std::vector<ir::Buffer> buffers_;
  int names_ = 0;
};

// Stores expressions over the same variables, whose values come from the rows of the first
// parameter; each has a parameter of its own.
ir::Kernel stores_of(const std::vector<Variable>& variables, const std::vector<ir::Expr>& values,
                     int rows);

}  // namespace attune::test
