// Kernels: statements compiled to a tree over the slots of an Evaluator.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/match.h"
#include "compiler/ir/evaluate.h"
#include "compiler/ir/interpret.h"
#include "compiler/ir/print.h"

namespace attune::ir {
namespace {

struct Code;
using CodePtr = std::unique_ptr<Code>;

struct LoopCode {
  std::size_t slot = 0;
  const Node* min = nullptr;
  const Node* extent = nullptr;
  CodePtr body;
  bool threads = false;  // a bound axis whose threads may meet at a barrier
  std::string name;
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
  std::string text;
};
struct AllocateCode {
  const BufferNode* buffer = nullptr;
  std::size_t slot = 0;
  CodePtr body;
};
struct LetCode {
  std::size_t slot = 0;
  const Node* value = nullptr;
  CodePtr body;
};
struct EvaluateCode {
  const Node* value = nullptr;
};
struct BarrierCode {};

struct Code {
  std::variant<LoopCode, StoreCode, SequenceCode, BranchCode, AllocateCode, LetCode, EvaluateCode,
               BarrierCode>
      kind;
  bool has_barrier = false;
};

template <typename Kind>
CodePtr make_code(Kind kind, bool has_barrier) {
  auto code = std::make_unique<Code>();
  code->kind = std::move(kind);
  code->has_barrier = has_barrier;
  return code;
}

class StmtCompiler {
 public:
  explicit StmtCompiler(Evaluator& evaluator) : evaluator_(evaluator) {}
  Result<CodePtr> compile(const Stmt& s);

 private:
  Result<CodePtr> loop(const For& x);
  Result<CodePtr> branch(const If& x);
  Evaluator& evaluator_;
};

Result<CodePtr> StmtCompiler::loop(const For& x) {
  LoopCode code;
  ATTUNE_ASSIGN(code.min, evaluator_.compile(x.min));
  ATTUNE_ASSIGN(code.extent, evaluator_.compile(x.extent));
  code.slot = evaluator_.push_variable(x.var);
  ATTUNE_ASSIGN(code.body, compile(x.body));
  evaluator_.pop_variable();
  code.threads = x.kind == LoopKind::Bound && !x.axis.starts_with("block");
  code.name = x.var;
  const bool has_barrier = code.body->has_barrier;
  return make_code(std::move(code), has_barrier);
}

Result<CodePtr> StmtCompiler::branch(const If& x) {
  BranchCode code;
  ATTUNE_ASSIGN(code.condition, evaluator_.compile(x.condition));
  ATTUNE_ASSIGN(code.then_body, compile(x.then_body));
  bool has_barrier = code.then_body->has_barrier;
  if (x.else_body) {
    ATTUNE_ASSIGN(code.else_body, compile(x.else_body));
    has_barrier |= code.else_body->has_barrier;
  }
  code.text = to_string(x.condition);
  return make_code(std::move(code), has_barrier);
}

Result<CodePtr> StmtCompiler::compile(const Stmt& s) {
  using Answer = Result<CodePtr>;
  if (!s) return make_code(SequenceCode{}, false);
  return std::visit(
      Match{
          [&](const For& x) { return loop(x); },
          [&](const If& x) { return branch(x); },
          [&](const Store& x) -> Answer {
            StoreCode code;
            ATTUNE_ASSIGN(code.access, evaluator_.compile_access(x.buffer, x.index));
            ATTUNE_ASSIGN(code.value, evaluator_.compile(x.value));
            code.lanes = x.value.type().lanes;
            for (const Expr& i : x.index) code.lanes = std::max<int>(code.lanes, i.type().lanes);
            if (x.value.type().element() != x.buffer->type) {
              return invalid(fmt::format("store of {} into '{}' of {}", to_string(x.value.type()),
                                         x.buffer->name, to_string(x.buffer->type)));
            }
            return make_code(code, false);
          },
          [&](const Block& x) -> Answer {
            SequenceCode code;
            bool has_barrier = false;
            for (const Stmt& child : x.stmts) {
              ATTUNE_ASSIGN(CodePtr step, compile(child));
              has_barrier |= step->has_barrier;
              code.steps.push_back(std::move(step));
            }
            return make_code(std::move(code), has_barrier);
          },
          [&](const Allocate& x) -> Answer {
            AllocateCode code;
            code.buffer = x.buffer.get();
            code.slot = evaluator_.add_buffer(x.buffer);
            ATTUNE_ASSIGN(code.body, compile(x.body));
            const bool has_barrier = code.body->has_barrier;
            return make_code(std::move(code), has_barrier);
          },
          [&](const LetStmt& x) -> Answer {
            LetCode code;
            ATTUNE_ASSIGN(code.value, evaluator_.compile(x.value));
            code.slot = evaluator_.push_variable(x.var);
            ATTUNE_ASSIGN(code.body, compile(x.body));
            evaluator_.pop_variable();
            const bool has_barrier = code.body->has_barrier;
            return make_code(std::move(code), has_barrier);
          },
          [&](const Evaluate& x) -> Answer {
            EvaluateCode code;
            ATTUNE_ASSIGN(code.value, evaluator_.compile(x.value));
            return make_code(code, false);
          },
          [&](const Barrier&) -> Answer { return make_code(BarrierCode{}, true); },
      },
      s->kind);
}

void run_store(const StoreCode& x, Frame& frame) {
  Memory& memory = *frame.memories[x.access->slot];
  const DType type = x.access->buffer->type;
  // All lanes are read before any is written.
  std::vector<Value> many(x.lanes > 1 ? static_cast<std::size_t>(x.lanes) : 0);
  Value one{};
  Value* values = many.empty() ? &one : many.data();
  for (int lane = 0; lane < x.lanes; ++lane) values[lane] = x.value->run(frame, lane);
  for (int lane = 0; lane < x.lanes; ++lane) {
    const std::int64_t position = x.access->locate(frame, lane, "store");
    if (position < 0) return;
    if (type.is_float() && type.bits == 16) values[lane].f = round_to(type, values[lane].f);
    memory.values[static_cast<std::size_t>(position)] = values[lane];
    memory.written[static_cast<std::size_t>(position)] = 1;
  }
}

void run(const Code& code, Frame& frame);

// The threads that run together: one frame each.
using Threads = std::vector<Frame>;

void run_together(const Code& code, Threads& threads);

// Threads come into being at the first bound loop with a barrier in it and end with it.
void run_threads(const LoopCode& x, const Threads& outer) {
  Threads inner;
  for (const Frame& frame : outer) {
    Frame base = frame;
    const std::int64_t min = x.min->run(base, 0).i, extent = x.extent->run(base, 0).i;
    for (std::int64_t i = 0; i < extent && !base.failed(); ++i) {
      inner.push_back(base);
      inner.back().variables[x.slot].i = min + i;
    }
  }
  if (!inner.empty()) run_together(*x.body, inner);
}

void run_loop(const LoopCode& x, const Code& code, Frame& frame) {
  if (code.has_barrier && x.threads) return run_threads(x, {frame});
  const std::int64_t min = x.min->run(frame, 0).i, extent = x.extent->run(frame, 0).i;
  for (std::int64_t i = 0; i < extent && !frame.failed(); ++i) {
    frame.variables[x.slot].i = min + i;
    run(*x.body, frame);
  }
}

void run(const Code& code, Frame& frame) {
  std::visit(Match{
                 [&](const LoopCode& x) { run_loop(x, code, frame); },
                 [&](const StoreCode& x) { run_store(x, frame); },
                 [&](const SequenceCode& x) {
                   for (const CodePtr& step : x.steps) {
                     if (!frame.failed()) run(*step, frame);
                   }
                 },
                 [&](const BranchCode& x) {
                   if (x.condition->run(frame, 0).i) {
                     run(*x.then_body, frame);
                   } else if (x.else_body) {
                     run(*x.else_body, frame);
                   }
                 },
                 [&](const AllocateCode& x) {
                   auto& memory = frame.memories[x.slot];
                   // Nobody else holds the memory of an earlier time round: use it again.
                   if (memory && memory.use_count() == 1) {
                     std::fill(memory->written.begin(), memory->written.end(), 0);
                   } else {
                     memory = std::make_shared<Memory>(element_count(*x.buffer));
                   }
                   run(*x.body, frame);
                 },
                 [&](const LetCode& x) {
                   frame.variables[x.slot] = x.value->run(frame, 0);
                   run(*x.body, frame);
                 },
                 [&](const EvaluateCode& x) { x.value->run(frame, 0); },
                 [&](const BarrierCode&) {},
             },
             code.kind);
}

// The value of an expression that all threads must agree on.
std::int64_t agreed(const Node& node, Threads& threads, const std::string& what) {
  const std::int64_t value = node.run(threads[0], 0).i;
  for (Frame& frame : threads) {
    if (node.run(frame, 0).i != value) {
      frame.fail(fmt::format("threads disagree on {} with a barrier in it", what));
      break;
    }
  }
  return value;
}

void run_loop_together(const LoopCode& x, Threads& threads) {
  if (x.threads) return run_threads(x, threads);
  const std::string what = fmt::format("the extent of loop '{}'", x.name);
  const std::int64_t extent = agreed(*x.extent, threads, what);
  std::vector<std::int64_t> first;
  for (Frame& frame : threads) first.push_back(x.min->run(frame, 0).i);
  for (std::int64_t i = 0; i < extent && !threads[0].failed(); ++i) {
    for (std::size_t t = 0; t < threads.size(); ++t) {
      threads[t].variables[x.slot].i = first[t] + i;
    }
    run_together(*x.body, threads);
  }
}

// Runs a statement for all threads up to its end; what holds no barrier runs thread after thread.
void run_together(const Code& code, Threads& threads) {
  if (threads[0].failed()) return;
  if (!code.has_barrier) {
    for (Frame& frame : threads) run(code, frame);
    return;
  }
  std::visit(Match{
                 [&](const LoopCode& x) { run_loop_together(x, threads); },
                 [&](const SequenceCode& x) {
                   for (const CodePtr& step : x.steps) run_together(*step, threads);
                 },
                 [&](const BranchCode& x) {
                   const std::string what = fmt::format("the condition '{}'", x.text);
                   const bool taken = agreed(*x.condition, threads, what) != 0;
                   const CodePtr& body = taken ? x.then_body : x.else_body;
                   if (body) run_together(*body, threads);
                 },
                 [&](const AllocateCode& x) {
                   const bool shared =
                       x.buffer->scope == Scope::Shared || x.buffer->scope == Scope::Global;
                   std::shared_ptr<Memory> memory;
                   for (Frame& frame : threads) {
                     if (!shared || !memory) {
                       memory = std::make_shared<Memory>(element_count(*x.buffer));
                     }
                     frame.memories[x.slot] = memory;
                   }
                   run_together(*x.body, threads);
                 },
                 [&](const LetCode& x) {
                   for (Frame& frame : threads) {
                     frame.variables[x.slot] = x.value->run(frame, 0);
                   }
                   run_together(*x.body, threads);
                 },
                 [&](const auto&) {},
             },
             code.kind);
}

}  // namespace

Status interpret(const Kernel& kernel, std::vector<Array>& buffers, int initialised) {
  if (buffers.size() != kernel.params.size()) {
    return invalid(fmt::format("kernel '{}' takes {} buffers, {} were given", kernel.name,
                               kernel.params.size(), buffers.size()));
  }
  Evaluator evaluator;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const BufferNode& wanted = *kernel.params[i];
    if (buffers[i].type != wanted.type || buffers[i].shape != wanted.shape) {
      return invalid(fmt::format("parameter '{}' is {}[{}], {}[{}] was given", wanted.name,
                                 to_string(wanted.type), fmt::join(wanted.shape, ", "),
                                 to_string(buffers[i].type), fmt::join(buffers[i].shape, ", ")));
    }
    evaluator.add_buffer(kernel.params[i]);
  }
  ATTUNE_ASSIGN(const CodePtr code, StmtCompiler(evaluator).compile(kernel.body));
  std::optional<Error> failure;
  Frame frame = evaluator.make_frame(failure);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    frame.memories[i] = std::make_shared<Memory>(buffers[i].count());
    const bool holds_data = initialised < 0 || i < static_cast<std::size_t>(initialised);
    if (holds_data) frame.memories[i]->assign(buffers[i]);
  }
  run(*code, frame);
  if (failure) return *failure;
  for (std::size_t i = 0; i < buffers.size(); ++i) frame.memories[i]->copy_to(buffers[i]);
  return {};
}

}  // namespace attune::ir
