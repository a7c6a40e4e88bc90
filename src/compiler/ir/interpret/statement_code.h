// The inside of interpret.h: statements compiled to a tree over the slots of an Evaluator, for the
// interpreter of plain loops and the one of launches.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/interpret/async_call.h"
#include "compiler/ir/interpret/bulk_call.h"
#include "compiler/ir/interpret/evaluate.h"
#include "compiler/ir/interpret/matrix_call.h"
#include "compiler/ir/interpret/tensor_call.h"
#include "compiler/ir/nodes/stmt.h"

namespace attune::ir {

struct Code;
using CodePtr = std::unique_ptr<Code>;

// How many operations of a thread an expression takes, address arithmetic included; `costly` are
// divisions and mathematical functions.
struct Work {
  std::int64_t simple = 0;
  std::int64_t costly = 0;
  friend bool operator==(const Work&, const Work&) = default;
};
Work work_of(const Expr& e);

struct LoopCode {
  std::size_t slot = 0;
  const Node* min = nullptr;
  const Node* extent = nullptr;
  CodePtr body;
  std::string name;
  std::string axis;  // of a bound loop
};
struct StoreCode {
  const Access* access = nullptr;
  const Node* value = nullptr;
  int lanes = 1;
};
struct SequenceCode {
  std::vector<CodePtr> steps;
};
struct BranchCode {
  const Node* condition = nullptr;
  CodePtr then_body, else_body;
};
struct AllocateCode {
  Buffer buffer;
  std::size_t slot = 0;
  CodePtr body;
};
struct LetCode {
  std::size_t slot = 0;
  const Node* value = nullptr;
  CodePtr body;
};
struct EvaluateCode {
  const Node* value = nullptr;  // or
  std::optional<TensorCall> call;
  std::optional<AsyncCall> async;
  std::optional<MatrixCall> matrix;
  std::optional<BulkCall> bulk;
};
struct BarrierCode {};

struct Code {
  std::variant<LoopCode, StoreCode, SequenceCode, BranchCode, AllocateCode, LetCode, EvaluateCode,
               BarrierCode>
      kind;
  Work work;  // of the statement itself, not of those in it
};

Result<CodePtr> compile_statement(const Stmt& s, Evaluator& evaluator);

// One store by one thread; all lanes are read before any is written.
void run_store(const StoreCode& x, Frame& frame);
void run_evaluate(const EvaluateCode& x, Frame& frame);

}  // namespace attune::ir
