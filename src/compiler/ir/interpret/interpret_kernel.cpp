// Kernels: plain loops run in order; those with bound loops are launches.
#include "base/match.h"
#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/interpret/launches.h"
#include "compiler/ir/interpret/parameters.h"

namespace attune::ir {
namespace {

void run(const Code& code, Frame& frame);

void run_loop(const LoopCode& x, Frame& frame) {
  const std::int64_t min = x.min->run(frame, 0).i, extent = x.extent->run(frame, 0).i;
  for (std::int64_t i = 0; i < extent && !frame.failed(); ++i) {
    frame.variables[x.slot].i = min + i;
    run(*x.body, frame);
  }
}

void run(const Code& code, Frame& frame) {
  std::visit(Match{
                 [&](const LoopCode& x) { run_loop(x, frame); },
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
                 [&](const EvaluateCode& x) { run_evaluate(x, frame); },
                 [&](const BarrierCode&) {},
             },
             code.kind);
}

Status interpret_launches(const Kernel& kernel, std::vector<Array>& buffers, int initialised) {
  constexpr std::int64_t kAny = std::int64_t{1} << 60;
  LaunchOptions options;
  options.limits = {kAny, kAny, kAny, kAny};
  ATTUNE_ASSIGN(const std::vector<Finding> findings,
                run_launches(kernel, buffers, initialised, options));
  if (!findings.empty()) return invalid(findings[0].text);
  return {};
}

}  // namespace

Status interpret(const Kernel& kernel, std::vector<Array>& buffers, int initialised) {
  if (has_bound_loops(kernel.body)) return interpret_launches(kernel, buffers, initialised);
  ATTUNE_RETURN_IF_ERROR(check_parameters(kernel, buffers));
  Evaluator evaluator;
  for (const Buffer& param : kernel.params) evaluator.add_buffer(param);
  ATTUNE_ASSIGN(const CodePtr code, compile_statement(kernel.body, evaluator));
  std::optional<Error> failure;
  Frame frame = evaluator.make_frame(failure);
  load_parameters(frame, buffers, initialised);
  run(*code, frame);
  if (failure) return *failure;
  store_parameters(frame, buffers);
  return {};
}

}  // namespace attune::ir
