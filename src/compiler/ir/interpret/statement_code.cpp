#include "compiler/ir/interpret/statement_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/match.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/text/print.h"

namespace attune::ir {
namespace {

template <typename Kind>
CodePtr make_code(Kind kind, Work work = {}) {
  auto code = std::make_unique<Code>();
  code->kind = std::move(kind);
  code->work = work;
  return code;
}

Work operator+(Work a, Work b) { return {a.simple + b.simple, a.costly + b.costly}; }

class StmtCompiler {
 public:
  explicit StmtCompiler(Evaluator& evaluator) : evaluator_(evaluator) {}
  Result<CodePtr> compile(const Stmt& s);

 private:
  Result<CodePtr> loop(const For& x);
  Result<CodePtr> branch(const If& x);
  Result<CodePtr> assignment(const Store& x);
  Result<CodePtr> sequence(const Block& x);
  Result<CodePtr> allocation(const Allocate& x);
  Result<CodePtr> binding(const LetStmt& x);
  Result<CodePtr> effect(const Evaluate& x);
  Evaluator& evaluator_;
};

Result<CodePtr> StmtCompiler::loop(const For& x) {
  LoopCode code;
  ATTUNE_ASSIGN(code.min, evaluator_.compile(x.min));
  ATTUNE_ASSIGN(code.extent, evaluator_.compile(x.extent));
  code.slot = evaluator_.push_variable(x.var);
  ATTUNE_ASSIGN(code.body, compile(x.body));
  evaluator_.pop_variable();
  if (x.kind == LoopKind::Bound) code.axis = x.axis;
  code.name = x.var;
  return make_code(std::move(code), work_of(x.min) + work_of(x.extent));
}

Result<CodePtr> StmtCompiler::branch(const If& x) {
  BranchCode code;
  ATTUNE_ASSIGN(code.condition, evaluator_.compile(x.condition));
  ATTUNE_ASSIGN(code.then_body, compile(x.then_body));
  if (x.else_body) {
    ATTUNE_ASSIGN(code.else_body, compile(x.else_body));
  }
  return make_code(std::move(code), work_of(x.condition));
}

Result<CodePtr> StmtCompiler::assignment(const Store& x) {
  StoreCode code;
  ATTUNE_ASSIGN(code.access, evaluator_.compile_access(x.buffer, x.index));
  ATTUNE_ASSIGN(code.value, evaluator_.compile(x.value));
  code.lanes = x.value.type().lanes;
  Work work = work_of(x.value);
  for (const Expr& i : x.index) {
    code.lanes = std::max<int>(code.lanes, i.type().lanes);
    work = work + work_of(i);
  }
  if (x.value.type().element() != x.buffer->type) {
    return invalid(fmt::format("store of {} into '{}' of {}", to_string(x.value.type()),
                               x.buffer->name, to_string(x.buffer->type)));
  }
  return make_code(code, work);
}

Result<CodePtr> StmtCompiler::sequence(const Block& x) {
  SequenceCode code;
  for (const Stmt& child : x.stmts) {
    ATTUNE_ASSIGN(CodePtr step, compile(child));
    code.steps.push_back(std::move(step));
  }
  return make_code(std::move(code));
}

Result<CodePtr> StmtCompiler::allocation(const Allocate& x) {
  AllocateCode code;
  code.buffer = x.buffer;
  code.slot = evaluator_.add_buffer(x.buffer);
  ATTUNE_ASSIGN(code.body, compile(x.body));
  return make_code(std::move(code));
}

Result<CodePtr> StmtCompiler::binding(const LetStmt& x) {
  LetCode code;
  ATTUNE_ASSIGN(code.value, evaluator_.compile(x.value));
  code.slot = evaluator_.push_variable(x.var);
  ATTUNE_ASSIGN(code.body, compile(x.body));
  evaluator_.pop_variable();
  return make_code(std::move(code), work_of(x.value));
}

Result<CodePtr> StmtCompiler::effect(const Evaluate& x) {
  EvaluateCode code;
  const auto* call = as<Opaque>(x.value);
  const TensorIntrinsic* intrinsic = call ? find_tensor_intrinsic(call->name) : nullptr;
  if (intrinsic && intrinsic->warpgroup) {
    ATTUNE_ASSIGN(code.matrix, MatrixCall::compile(*call, *intrinsic, evaluator_));
  } else if (intrinsic) {
    ATTUNE_ASSIGN(code.call, TensorCall::compile(*call, *intrinsic, evaluator_));
  } else if (call && BulkCall::is_bulk(*call)) {
    ATTUNE_ASSIGN(code.bulk, BulkCall::compile(*call, evaluator_));
  } else if (call && AsyncCall::is_async(*call)) {
    ATTUNE_ASSIGN(code.async, AsyncCall::compile(*call, evaluator_));
  } else {
    ATTUNE_ASSIGN(code.value, evaluator_.compile(x.value));
  }
  return make_code(std::move(code), work_of(x.value));
}

Result<CodePtr> StmtCompiler::compile(const Stmt& s) {
  using Answer = Result<CodePtr>;
  if (!s) return make_code(SequenceCode{});
  return std::visit(Match{
                        [&](const For& x) { return loop(x); },
                        [&](const If& x) { return branch(x); },
                        [&](const Store& x) { return assignment(x); },
                        [&](const Block& x) { return sequence(x); },
                        [&](const Allocate& x) { return allocation(x); },
                        [&](const LetStmt& x) { return binding(x); },
                        [&](const Evaluate& x) { return effect(x); },
                        [&](const Barrier&) -> Answer { return make_code(BarrierCode{}); },
                    },
                    s->kind);
}

bool is_costly(BinOp op) { return op == BinOp::Div || op == BinOp::Mod; }

bool is_costly(MathFn fn) {
  switch (fn) {
    case MathFn::Neg:
    case MathFn::Not:
    case MathFn::BitNot:
    case MathFn::Abs:
    case MathFn::Sign:
    case MathFn::Fma:
    case MathFn::IsNan:
    case MathFn::IsInf:
    case MathFn::Bitcast:
      return false;
    default:
      return true;
  }
}

}  // namespace

Work work_of(const Expr& e) {
  Work work;
  visit(e, [&](const Expr& part) {
    const std::int64_t lanes = part.type().lanes;
    const auto* binary = as<Binary>(part);
    const auto* math = as<Math>(part);
    if ((binary && is_costly(binary->op)) || (math && is_costly(math->fn))) {
      work.costly += lanes;
    } else if (binary || math || as<Select>(part) || as<Cast>(part)) {
      work.simple += lanes;
    } else if (const auto* reduce = as<VectorReduce>(part)) {
      work.simple += reduce->value.type().lanes;
    }
  });
  return work;
}

Result<CodePtr> compile_statement(const Stmt& s, Evaluator& evaluator) {
  return StmtCompiler(evaluator).compile(s);
}

void run_evaluate(const EvaluateCode& x, Frame& frame) {
  if (x.matrix || x.bulk) {
    frame.fail(fmt::format("'{}' is run by threads of a block, but there are none here",
                           x.matrix ? x.matrix->name() : "bulk"));
  } else if (x.call) {
    x.call->run(frame);
  } else if (x.async) {
    x.async->run(frame);
  } else {
    x.value->run(frame, 0);
  }
}

void run_store(const StoreCode& x, Frame& frame) {
  Memory& memory = *frame.memories[x.access->slot];
  const DType type = x.access->buffer->type;
  std::vector<Value> many(x.lanes > 1 ? static_cast<std::size_t>(x.lanes) : 0);
  Value one{};
  Value* values = many.empty() ? &one : many.data();
  for (int lane = 0; lane < x.lanes; ++lane) values[lane] = x.value->run(frame, lane);
  for (int lane = 0; lane < x.lanes; ++lane) {
    const std::int64_t position = x.access->locate(frame, lane, "store");
    if (position < 0) return;
    if (type.is_float() && type.bits == 16) values[lane].f = round_to(type, values[lane].f);
    if (frame.watch) frame.watch->on_write(frame, *x.access, position, values[lane]);
    memory.values[static_cast<std::size_t>(position)] = values[lane];
    memory.written[static_cast<std::size_t>(position)] = 1;
  }
}

}  // namespace attune::ir
