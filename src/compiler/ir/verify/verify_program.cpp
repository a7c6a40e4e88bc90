#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/ir/text/names.h"
#include "compiler/ir/verify/verify_expr.h"

namespace attune::ir {
namespace {

class ProgramVerifier {
 public:
  explicit ProgramVerifier(const Program& program) : program_(program) {}
  Status run();

 private:
  Status buffer(const Buffer& buffer);
  Status stage(const Stage& stage);
  Status axes(const Stage& stage);
  Status outputs(const Stage& stage);
  Status value(const Stage& stage, const Expr& value);

  const Program& program_;
  std::set<std::string> names_;
  std::set<const BufferNode*> computed_;  // looked up, never walked
};

bool is_axis_name(const std::string& name) {
  return is_plain_name(name) && name.find('.') == std::string::npos;
}

Status ProgramVerifier::buffer(const Buffer& b) {
  ATTUNE_RETURN_IF_ERROR(verify_buffer(*b));
  if (!names_.insert(b->name).second) return invalid("two tensors are named '" + b->name + "'");
  computed_.insert(b.get());
  return {};
}

Status ProgramVerifier::axes(const Stage& s) {
  std::set<std::string> seen;
  for (const auto* list : {&s.axes, &s.reduce_axes}) {
    for (const Axis& axis : *list) {
      if (!is_axis_name(axis.name)) {
        return invalid(fmt::format("axis '{}' of stage '{}' is not a name", axis.name, s.name),
                       "use letters, digits and '_'");
      }
      if (!seen.insert(axis.name).second) {
        return invalid(fmt::format("stage '{}' has two axes '{}'", s.name, axis.name));
      }
      if (axis.extent <= 0) {
        return invalid(fmt::format("axis '{}' of stage '{}' has extent {}, must be positive",
                                   axis.name, s.name, axis.extent));
      }
    }
  }
  if (s.reduction == Reduction::None && !s.reduce_axes.empty()) {
    return invalid(fmt::format("stage '{}' has reduction axes but no reduction", s.name));
  }
  return {};
}

Status ProgramVerifier::outputs(const Stage& s) {
  const std::size_t wanted = s.reduction >= Reduction::ArgMax ? 2 : 1;
  if (s.values.size() != wanted || s.outputs.size() != wanted) {
    return invalid(fmt::format("stage '{}' has {} values and {} outputs, needs {} of each", s.name,
                               s.values.size(), s.outputs.size(), wanted));
  }
  if (s.outputs[0]->name != s.name) {
    return invalid(fmt::format("stage '{}' writes a tensor of another name, '{}'", s.name,
                               s.outputs[0]->name));
  }
  for (std::size_t i = 0; i < wanted; ++i) {
    const BufferNode& b = *s.outputs[i];
    if (b.type != s.values[i].type()) {
      return invalid(fmt::format("tensor '{}' is {}, its value '{}' is {}", b.name,
                                 to_string(b.type), shown(s.values[i]),
                                 to_string(s.values[i].type())));
    }
    const bool fits = std::equal(b.shape.begin(), b.shape.end(), s.axes.begin(), s.axes.end(),
                                 [](std::int64_t d, const Axis& a) { return d == a.extent; });
    if (!fits) {
      return invalid(fmt::format("shape [{}] of tensor '{}' is not that of its axes",
                                 fmt::join(b.shape, ", "), b.name));
    }
  }
  return {};
}

Status ProgramVerifier::value(const Stage& s, const Expr& value) {
  Status status;
  visit(value, [&](const Expr& e) {
    if (!status.ok()) return;
    status = verify_node(e);
    if (!status.ok()) return;
    if (!e.type().is_scalar()) status = invalid(fmt::format("a vector: '{}'", shown(e)));
    if (const auto* v = as<Var>(e)) {
      const auto named = [&](const Axis& a) { return a.name == v->name; };
      const bool known = std::any_of(s.axes.begin(), s.axes.end(), named) ||
                         std::any_of(s.reduce_axes.begin(), s.reduce_axes.end(), named);
      if (!known || e.type() != kIndex) {
        status = invalid(fmt::format("variable '{}' is no axis", v->name));
      }
    }
    if (const auto* l = as<Load>(e); l && !computed_.contains(l->buffer.get())) {
      status = invalid(fmt::format("tensor '{}' is read before it is computed", l->buffer->name));
    }
  });
  if (status.ok()) return status;
  return invalid(status.error().message + " in stage '" + s.name + "'");
}

Status ProgramVerifier::stage(const Stage& s) {
  ATTUNE_RETURN_IF_ERROR(axes(s));
  for (const Expr& v : s.values) {
    if (!v) return invalid(fmt::format("stage '{}' has no value", s.name));
    ATTUNE_RETURN_IF_ERROR(value(s, v));
  }
  ATTUNE_RETURN_IF_ERROR(outputs(s));
  for (const Buffer& output : s.outputs) ATTUNE_RETURN_IF_ERROR(buffer(output));
  return {};
}

Status ProgramVerifier::run() {
  for (const Input& input : program_.inputs) ATTUNE_RETURN_IF_ERROR(buffer(input.buffer));
  for (const Stage& s : program_.stages) ATTUNE_RETURN_IF_ERROR(stage(s));
  if (program_.outputs.empty()) return invalid("there is no output");
  for (const Buffer& output : program_.outputs) {
    if (!program_.producer(output)) {
      return invalid(fmt::format("output '{}' is computed by no stage", output->name));
    }
  }
  return {};
}

}  // namespace

Status verify(const Program& program) {
  Status status = ProgramVerifier(program).run();
  if (status.ok()) return status;
  return Error{status.error().code,
               fmt::format("program '{}': {}", program.name, status.error().message),
               status.error().hint};
}

}  // namespace attune::ir
