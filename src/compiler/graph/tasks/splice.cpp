#include "compiler/graph/tasks/splice.h"

#include "base/check.h"
#include "compiler/ir/nodes/rewrite.h"

namespace attune::graph {

ir::Program with_prefix(const ir::Program& program, const std::string& prefix) {
  std::vector<std::pair<ir::Buffer, ir::Buffer>> buffers;  // old and new
  const auto renamed = [&](const ir::Buffer& buffer) {
    const ir::Buffer fresh = ir::make_buffer(prefix + buffer->name, buffer->type, buffer->shape);
    buffers.emplace_back(buffer, fresh);
    return fresh;
  };
  ir::Program result{program.name, {}, {}, {}};
  for (const ir::Input& input : program.inputs) {
    result.inputs.push_back({renamed(input.buffer), input.constant});
  }
  for (ir::Stage stage : program.stages) {
    stage.name = prefix + stage.name;
    for (const auto& [old, fresh] : buffers) {
      replace_reads(stage, old, [&b = fresh](const std::vector<ir::Expr>& index) {
        return ir::load(b, index);
      });
    }
    for (ir::Buffer& buffer : stage.outputs) buffer = renamed(buffer);
    result.stages.push_back(std::move(stage));
  }
  result.outputs = {result.stages.back().outputs[0]};
  return result;
}

void replace_reads(ir::Stage& stage, const ir::Buffer& buffer, const Replacement& replacement) {
  for (ir::Expr& value : stage.values) value = ir::replace_loads(value, buffer, replacement);
}

void splice(ir::Program& program, ir::Program rest, std::size_t between,
            const Replacement& replacement) {
  CHECK(between < rest.inputs.size(), "the second program reads the result of the first");
  const ir::Buffer replaced = rest.inputs[between].buffer;
  rest.inputs.erase(rest.inputs.begin() + static_cast<std::ptrdiff_t>(between));
  program.inputs.insert(program.inputs.end(), rest.inputs.begin(), rest.inputs.end());
  for (ir::Stage& stage : rest.stages) {
    replace_reads(stage, replaced, replacement);
    program.stages.push_back(std::move(stage));
  }
  program.outputs = std::move(rest.outputs);
}

}  // namespace attune::graph
