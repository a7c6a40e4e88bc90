#include "compiler/model/bound.h"

#include "base/match.h"
#include "compiler/target/bound.h"

namespace attune::model {
namespace {

class PlanBounds {
 public:
  PlanBounds(const runtime::Plan& plan, const target::Target& target, bool cold)
      : plan_(plan), target_(target), cold_(cold), bounds_us_(plan.kernels.size()) {
    walk(plan.body, false);
  }

  std::vector<double> take() && { return std::move(bounds_us_); }

 private:
  void walk(const runtime::Block& block, bool repeats) {
    for (const runtime::Instruction& instruction : block) {
      std::visit(Match{[&](const runtime::KernelCall& call) { add(call, repeats); },
                       [](const runtime::HostCall&) {}, [](const runtime::Copy&) {},
                       [&](const runtime::If& branch) {
                         walk(branch.then_block, repeats);
                         walk(branch.else_block, repeats);
                       },
                       [&](const runtime::Loop& loop) { walk(loop.body, true); }},
                 instruction.kind);
    }
  }

  void add(const runtime::KernelCall& call, bool repeats) {
    const auto kernel = static_cast<std::size_t>(call.kernel);
    const std::vector<runtime::KernelArgument>& arguments = plan_.kernels[kernel].arguments;
    target::Work work{.flops = call.flops};
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto bytes = static_cast<double>(arguments[i].bytes);
      const auto buffer = static_cast<std::size_t>(call.buffers[i]);
      const bool constant = plan_.buffers[buffer].place == runtime::Place::Constant;
      work.bytes += bytes;
      if (cold_ && constant && !repeats) work.cold_bytes += bytes;
    }
    bounds_us_[kernel] = target::bound_us(work, target_);
  }

  const runtime::Plan& plan_;
  const target::Target& target_;
  const bool cold_;
  std::vector<double> bounds_us_;
};

double bytes_of(const ir::Buffer& buffer) {
  double bytes = static_cast<double>(buffer->type.bytes());
  for (const std::int64_t extent : buffer->shape) bytes *= static_cast<double>(extent);
  return bytes;
}

}  // namespace

double bound_us(const graph::Task& task, const target::Target& target, bool cold) {
  const ir::Program& program = task.op.program;
  target::Work work{.flops = task.op.flops};
  for (const ir::Input& input : program.inputs) {
    const double bytes = bytes_of(input.buffer);
    work.bytes += bytes;
    if (cold && input.constant && !task.repeats) work.cold_bytes += bytes;
  }
  for (const ir::Buffer& output : program.outputs) work.bytes += bytes_of(output);
  return target::bound_us(work, target);
}

std::vector<double> bounds_us(const runtime::Plan& plan, const target::Target& target, bool cold) {
  return PlanBounds(plan, target, cold).take();
}

}  // namespace attune::model
