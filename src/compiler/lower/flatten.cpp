#include "compiler/lower/flatten.h"

#include <map>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

class Flattener {
 public:
  ir::Buffer flat(const ir::Buffer& buffer) {
    ir::Buffer& known = flat_[buffer];
    if (!known) {
      known =
          ir::make_buffer(buffer->name, buffer->type, {ir::element_count(*buffer)}, buffer->scope);
    }
    return known;
  }

  Stmt stmt(const Stmt& s, const ir::Ranges& ranges) {
    if (const auto* st = ir::as<ir::Store>(s)) {
      return ir::store(flat(st->buffer), {index(*st->buffer, st->index, ranges)},
                       expr(st->value, ranges));
    }
    if (const auto* storage = ir::as<ir::Allocate>(s)) {
      return ir::allocate(flat(storage->buffer), stmt(storage->body, ranges));
    }
    const auto* loop = ir::as<ir::For>(s);
    const ir::Ranges inner = loop ? ranges.with_loop(loop->var, loop->min, loop->extent) : ranges;
    return ir::map_children(
        s, [&](const Stmt& child) { return stmt(child, inner); },
        [&](const Expr& e) { return expr(e, ranges); });
  }

 private:
  Expr expr(const Expr& e, const ir::Ranges& ranges) {
    if (const auto* load = ir::as<ir::Load>(e)) {
      return ir::load(flat(load->buffer), {index(*load->buffer, load->index, ranges)});
    }
    return ir::map_children(e, [&](const Expr& child) { return expr(child, ranges); });
  }

  Expr index(const ir::BufferNode& buffer, const std::vector<Expr>& indices,
             const ir::Ranges& ranges) {
    std::vector<Expr> flattened;
    for (const Expr& each : indices) flattened.push_back(expr(each, ranges));
    return ir::simplify(flat_index(buffer, flattened), ranges);
  }

  std::map<ir::Buffer, ir::Buffer> flat_;
};

}  // namespace

Expr flat_index(const ir::BufferNode& buffer, const std::vector<Expr>& index) {
  Expr sum(0);
  std::int64_t stride = 1;
  for (std::size_t d = index.size(); d-- > 0;) {
    sum = sum + index[d] * Expr(stride);
    stride *= buffer.shape[d];
  }
  return sum;
}

ir::Kernel flatten(const ir::Kernel& kernel) {
  Flattener flattener;
  ir::Kernel result{kernel.name, {}, {}, kernel.workspace_bytes};
  for (const ir::Buffer& buffer : kernel.params) result.params.push_back(flattener.flat(buffer));
  result.body = flattener.stmt(kernel.body, {});
  return result;
}

}  // namespace attune::lower
