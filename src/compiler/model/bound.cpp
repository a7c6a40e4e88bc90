#include "compiler/model/bound.h"

#include "compiler/target/bound.h"

namespace attune::model {
namespace {

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

}  // namespace attune::model
