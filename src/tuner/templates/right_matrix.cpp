#include "tuner/templates/right_matrix.h"

#include "compiler/ir/nodes/rewrite.h"
#include "tuner/templates/dataflow.h"

namespace attune::templates {
namespace {

int dimension_of(const ir::Load& load, const char* axis) {
  int found = -1;
  for (std::size_t d = 0; d < load.index.size(); ++d) {
    if (!ir::uses_var(load.index[d], axis)) continue;
    if (found >= 0 || !ir::as<ir::Var>(load.index[d])) return -1;
    found = static_cast<int>(d);
  }
  return found;
}

}  // namespace

std::optional<Right> right_of(const ir::Program& program) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  std::optional<Right> right;
  ir::visit(anchor.values[0], [&](const ir::Expr& e) {
    const auto* load = ir::as<ir::Load>(e);
    if (!load || dimension_of(*load, "j") < 0 || dimension_of(*load, "k") < 0) return;
    right.emplace();
    right->tensor = load->buffer->name;
    right->stage = program.producer(load->buffer);
    right->j = dimension_of(*load, "j");
    right->k = dimension_of(*load, "k");
    for (std::size_t d = 0; d < load->index.size(); ++d) {
      right->axes.push_back(right->stage ? right->stage->axes[d].name : "i" + std::to_string(d));
    }
    right->prepared = right->stage && depends_on_constants(program, *right->stage);
  });
  if (!right || (right->stage && right->stage->reduction != ir::Reduction::None)) return {};
  right->private_use = right->stage && readers_of(program, *right->stage).size() == 1;
  return right;
}

void pack_panels(TraceWriter& t, const Right& right, Panel panel, const std::string& consumer,
                 const PackedAt& at) {
  const auto [vectors, lanes] = panel;
  const std::string width = std::to_string(vectors * lanes);
  const std::string& j = right.axes[static_cast<std::size_t>(right.j)];
  const std::string& k = right.axes[static_cast<std::size_t>(right.k)];
  std::string packed = right.tensor;
  if (!right.stage) {
    t.cache_read(right.tensor, consumer);
    packed = "cache." + right.tensor;
  }
  if (!at.loop.empty()) t.compute_at(packed, at.stage, at.loop);
  t.split(packed, j, {vectors, lanes});
  schedule::Names order{j + ".0", k, j + ".1", j + ".2"};
  t.reorder(packed, order);
  if (!right.prepared) t.unroll(packed, j + ".1");
  t.vectorize(packed, j + ".2");
  schedule::Names layout;
  for (const std::string& axis : right.axes) {
    if (axis != j && axis != k) layout.push_back(axis);
  }
  const bool batched = !layout.empty();
  layout.insert(layout.end(), {j + "/" + width, k, j + "%" + width});
  t.layout(packed, layout);
  if (at.loop.empty() && !right.prepared) t.parallel(packed, batched ? layout[0] : j + ".0");
}

void leave_unpacked(TraceWriter& t, const Right& right) {
  if (right.stage && !right.prepared && only_moves(*right.stage)) t.inline_stage(right.tensor);
}

}  // namespace attune::templates
