// Writes statements as text of a language of C's family. What the languages differ in (loops over
// hardware, memory, the width of indices, accesses of several elements) are virtual functions,
// which a target's printer gives; the rest is spread over several sources by concern: scalars,
// vectors (lanes and masks), memory, statements. An expression becomes the text of an expression;
// whatever cannot stand inside one (functions of vectors, gathers, values used more than once,
// guarded sides) becomes statements before it. The text stands on a prelude of the target's, which
// defines functions of one element (at_add_i8) and macros of several (VLET).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/codegen/buffer_order.h"
#include "compiler/codegen/c_text/names.h"
#include "compiler/codegen/c_text/text.h"
#include "compiler/codegen/c_text/types.h"
#include "compiler/codegen/index_facts.h"
#include "compiler/codegen/storage.h"
#include "compiler/ir/nodes/stmt.h"

namespace attune::c_text {

// Vector types by element tag and number of lanes.
using VectorTypes = std::set<std::pair<std::string, int>>;

class Printer {
 public:
  virtual ~Printer() = default;

 protected:
  using Expr = ir::Expr;
  using DType = ir::DType;

  // All that will be written is within `body`; `words` may not be names.
  Printer(const ir::Stmt& body, const codegen::StoragePlan& plan,
          std::span<const std::string_view> words = {});

  // What languages differ in.
  virtual void before(const ir::Stmt&) {}  // what comes in front of a statement
  virtual void loop(const ir::For& x);
  virtual void barrier(const ir::Barrier& x);
  virtual void allocate(const ir::Allocate& s);
  virtual void declare(const ir::BufferNode& buffer) = 0;  // memory for it
  virtual void opaque(const ir::Opaque& x) = 0;            // called for its effect
  virtual std::string worker() const { return "0"; }
  virtual std::string address(const ir::BufferNode& buffer, const std::string& base,
                              const Expr& at);
  virtual std::string element(const ir::BufferNode& buffer, const std::string& base,
                              const Expr& at);
  // Of lanes side by side, in memory that nothing forbids to touch.
  virtual std::string load_side_by_side(const ir::BufferNode& buffer, const Expr& first,
                                        const std::string& tag, int count);
  virtual void store_side_by_side(const ir::BufferNode& buffer, const Expr& first,
                                  const std::string& tag, int count, const std::string& text);
  // Whether the text of an expression of type i64 has 32 bits, which are enough for all its values.
  virtual bool is_narrow(const Expr&) const { return false; }
  virtual std::string variable_type(DType type, const codegen::VarFacts& facts) const;
  virtual std::string scalar_division(const Expr& e);
  virtual std::string macro(const char* name, int count) const;  // "VLOAD" or "ALOAD"
  // After a declaration: compilers shall not complain when nobody uses it.
  virtual void may_be_unused(const std::string& name);

  // scalars.cpp
  std::string scalar(const Expr& e);
  std::string index(const Expr& e);  // i64 arithmetic that cannot overflow

  // statements.cpp
  void statement(const ir::Stmt& s);
  void serial_loop(const ir::For& x, const std::string& pragma);
  void loop_body(const ir::For& x);
  codegen::VarFacts facts_of(const ir::For& x) const;

  // memory.cpp
  const std::string& load_base(const ir::BufferNode& buffer);

  const codegen::StoragePlan& plan_;
  Names names_;
  VectorTypes vectors_;
  codegen::BufferSet stored_;
  Text text_{1};                                    // of the function being written
  std::map<std::string, DType, std::less<>> vars_;  // in scope
  codegen::BufferSet bound_;                        // in scope
  codegen::BufferMap<std::string> load_bases_;
  codegen::Facts facts_;

 private:
  // scalars.cpp
  std::string scalar_node(const Expr& e);
  std::string scalar_binary(const Expr& e);
  std::string scalar_int(const Expr& e);
  std::string scalar_math(const ir::Math& x, DType type);
  std::string scalar_select(const Expr& e);
  std::string scalar_cast(const ir::Cast& x, DType to);
  std::string scalar_reduce(const ir::VectorReduce& x);
  std::string type_of(const Expr& e) const;  // of the text of a scalar
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
  const std::string& vector_tag(const std::string& tag, int count);

  // masks.cpp: vectors of truth values, as wide as what they are used with
  std::string mask(const Expr& e, int bits);
  std::string mask_node(const Expr& e, int bits);
  std::string mask_name(const Expr& e, int bits);
  std::string masked_side(const Expr& e, const std::string& mask, int bits);

  // memory.cpp
  std::string load_scalar(const ir::Load& x, DType type);
  std::string load_element(const ir::Load& x, DType type);  // of memory type
  std::string load_lanes(const ir::Load& x, DType type);    // of memory type
  std::string load_lanes_if(const ir::Load& x, DType type);
  std::string from_memory(const std::string& text, DType type);  // of lanes, but for bool
  std::string slot(const ir::BufferNode& buffer, const Expr& at);
  void store(const ir::Store& s);
  void store_lanes(const ir::Store& s, const std::string& text, DType type);
  std::string to_memory(const Expr& value);        // a scalar
  std::string lanes_to_memory(const Expr& value);  // a vector
  void declare_values(const ir::Allocate& s);

  // statements.cpp
  void branch(const ir::If& x);
  void let(const ir::LetStmt& x);
  void with_facts(const std::string& var, const codegen::VarFacts& facts,
                  const std::function<void()>& body);
  // What is used more than once in the expressions of a statement gets a name.
  void count_uses(const Expr& e);
  bool is_shared(const Expr& e) const;

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

}  // namespace attune::c_text
