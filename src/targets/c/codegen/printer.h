// Writes one kernel as C. The member functions are spread over several sources by concern: scalars,
// vectors (lanes and masks), memory, statements, parallel loops. An expression becomes the text of
// a C expression; whatever cannot stand inside one (functions of vectors, gathers, values used more
// than once, guarded sides) becomes statements before it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/codegen/buffer_order.h"
#include "compiler/codegen/index_facts.h"
#include "compiler/codegen/storage.h"
#include "targets/c/codegen/kernel.h"
#include "targets/c/codegen/names.h"
#include "targets/c/codegen/text.h"
#include "targets/c/codegen/types.h"

namespace attune::c {

class KernelPrinter {
 public:
  KernelPrinter(const ir::Kernel& kernel, const codegen::StoragePlan& plan,
                const PrintOptions& options);

  PrintedKernel print();

 private:
  using Expr = ir::Expr;
  using DType = ir::DType;

  // scalars.cpp
  std::string scalar(const Expr& e);
  std::string scalar_node(const Expr& e);
  std::string scalar_binary(const ir::Binary& x);
  std::string scalar_int(const ir::Binary& x);
  std::string scalar_division(const ir::Binary& x);
  std::string scalar_math(const ir::Math& x, DType type);
  std::string scalar_select(const ir::Select& x, DType type);
  std::string scalar_cast(const ir::Cast& x, DType to);
  std::string scalar_reduce(const ir::VectorReduce& x);
  std::string index(const Expr& e);  // i64 arithmetic that cannot overflow
  // A side of a select into `into`, with its own statements before it.
  std::string guarded(const Expr& e, Text& into);

  // vectors.cpp: the text of lanes, for the expression of a vector statement
  std::string lanes(const Expr& e);
  std::string lanes_node(const Expr& e);
  std::string lanes_binary(const ir::Binary& x, DType type);
  std::string lanes_division(const ir::Binary& x, DType type);
  std::string lanes_math(const ir::Math& x, DType type);
  std::string lanes_select(const ir::Select& x, DType type);
  std::string lanes_cast(const ir::Cast& x, DType to);
  std::string lanes_bitcast(const Expr& value, DType to);
  // "VL(x)" of a variable that holds the value.
  std::string lane_atom(const Expr& e);
  std::string call_lanes(const std::string& function, const std::string& result_tag,
                         const std::string& argument_tag, int count,
                         const std::vector<std::string>& names);
  // The value in a variable of its own, and its name.
  std::string vector_name(const Expr& e);
  std::string named(const std::string& tag, int count, const std::string& text);
  std::string macro(const char* name, int count) const;  // "VLOAD" or "ALOAD"
  const std::string& vector_tag(const std::string& tag, int count);

  // masks.cpp: vectors of truth values, as wide as what they are used with
  std::string mask(const Expr& e, int bits);
  std::string mask_node(const Expr& e, int bits);
  std::string mask_name(const Expr& e, int bits);
  std::string masked_side(const Expr& e, const std::string& mask, int bits);

  // memory.cpp
  std::string address(const ir::BufferNode& buffer, const std::string& base, const Expr& at);
  std::string element(const ir::BufferNode& buffer, const std::string& base, const Expr& at);
  std::string load_scalar(const ir::Load& x, DType type);
  std::string load_lanes(const ir::Load& x, DType type);  // of memory type
  std::string load_lanes_if(const ir::Load& x, DType type);
  std::string from_memory(const std::string& text, DType type);  // of lanes, but for bool
  std::string slot(const ir::BufferNode& buffer, const Expr& at);
  void store(const ir::Store& s);
  void store_lanes(const ir::Store& s, const std::string& text, DType type);
  std::string to_memory(const Expr& value);        // a scalar
  std::string lanes_to_memory(const Expr& value);  // a vector
  void allocate(const ir::Allocate& s);
  void read_again();
  const std::string& load_base(const ir::BufferNode& buffer);

  // statements.cpp
  void statement(const ir::Stmt& s);
  void loop(const ir::For& x);
  void loop_body(const ir::For& x);
  void branch(const ir::If& x);
  void let(const ir::LetStmt& x);
  void opaque(const ir::Opaque& x);
  void with_facts(const std::string& var, const codegen::VarFacts& facts,
                  const std::function<void()>& body);
  // What is used more than once in the expressions of a statement gets a name.
  void count_uses(const Expr& e);
  bool is_shared(const Expr& e) const;
  std::string parameters_text(const std::vector<const ir::BufferNode*>& buffers);
  std::string pointer_type(const ir::BufferNode& buffer) const;
  std::string parameter_type(const ir::BufferNode& buffer) const;

  // parallel.cpp
  void parallel_loop(const ir::For& x);
  void print_body(const ir::For& x, const std::string& name, const std::vector<std::string>& vars,
                  const std::vector<const ir::BufferNode*>& buffers, bool sliced);
  void print_task(const std::string& name, const std::vector<std::string>& vars,
                  const std::vector<const ir::BufferNode*>& buffers, bool sliced);

  const ir::Kernel& kernel_;
  const codegen::StoragePlan& plan_;
  const PrintOptions& options_;
  std::string function_;  // the kernel's own
  Names names_;
  VectorTypes vectors_;
  codegen::BufferSet stored_;

  std::string functions_;  // of parallel loops, complete
  Text text_{1};           // of the function being written
  bool in_task_ = false;
  bool sliced_ = false;  // `worker` numbers a slice of the workspace
  int task_count_ = 0;
  std::map<std::string, DType, std::less<>> vars_;  // in scope
  codegen::BufferSet bound_;                        // in scope
  codegen::BufferSet shared_;  // parameters that may be the same memory as another
  codegen::BufferMap<std::string> load_bases_;

  codegen::Facts facts_;
  int depth_ = 0;
  bool in_index_ = false;
  // Lanes in which the expression being written may be evaluated: a mask variable; empty means
  // all.
  std::string mask_;
  int mask_lanes_ = 0;
  int mask_bits_ = 0;
  std::unordered_map<const ir::ExprNode*, int> uses_;
  std::unordered_map<const ir::ExprNode*, std::string> memo_;
};

}  // namespace attune::c
