// Operators as graphs know them. An operator is a name with a shape rule and a meaning; the meaning
// is a tensor expression, or a function of the runtime for what no tensor expression can say
// (sorting, sizes that depend on data), or a subgraph (control flow).
//
// operators() is the one list; a new operator is its own file (or a line in the file of its family)
// and one line there. Names are lower-case and follow ONNX where that has one; attributes are
// normalised: every attribute is present, axes are not negative, pads are written out.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/ops/op_traits.h"
#include "compiler/ops/tensor_type.h"

namespace attune::ops {

using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                               std::vector<double>, std::vector<std::string>>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

// One use of an operator: what its rules may look at.
struct OpCall {
  std::string_view name;  // of the operator
  Attributes attributes;
  std::vector<TensorType> inputs;
  std::vector<bool> present;           // false: an optional input that is left out
  std::vector<ConstantPtr> constants;  // null where the value is not known
  // Types of what the bodies of a control operator give.
  std::vector<std::vector<TensorType>> bodies = {};

  bool has(std::size_t input) const { return input < present.size() && present[input]; }
  bool has_attribute(std::string_view key) const { return attributes.count(key) != 0; }
  // CHECK that the attribute is there and of the type: front ends normalise.
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  const std::string& word(std::string_view key) const;
  const std::vector<std::int64_t>& integers(std::string_view key) const;
  const std::vector<double>& reals(std::string_view key) const;
};

// The element of an input at an index (one expression per dimension, logical row-major order).
using Read = std::function<ir::Expr(const std::vector<ir::Expr>& index)>;

// How fusion may treat an operator.
enum class OpKind : std::uint8_t {
  Elementwise,  // each output element from the elements at the same (broadcast) place
  Injective,    // each output element from few input elements at computed places
  View,         // the same elements in the same order under another shape
  Reduction,    // sums and the like over some axes; may take producers in
  Heavy,        // matrix products and convolutions: anchors of a task
  Opaque,       // several stages, not fused with anything before it
  Host,         // a function of the runtime
  Control,      // if, loop: subgraphs
};

// Types of the outputs; errors name what does not fit.
using ShapeRule = Result<std::vector<TensorType>> (*)(const OpCall&);
// The value from the values of the inputs (empty expressions for absent ones), which are already of
// the inputs' types.
using ScalarMeaning = ir::Expr (*)(const OpCall&, const std::vector<ir::Expr>& values);
// The element at `index` of the output.
using ElementMeaning = ir::Expr (*)(const OpCall&, const std::vector<Read>& inputs,
                                    const std::vector<ir::Expr>& index);
// Adds stages to the program and returns the buffer with the result, in the logical shape of the
// output. Stages may have any names that are free (free_stage_name), the one that costs the time is
// `anchor` if that is free.
using StagesMeaning = Result<ir::Buffer> (*)(ir::Program&, const OpCall&,
                                             const std::vector<Read>& inputs);

struct OpDef {
  std::string_view name;
  OpKind kind;
  ShapeRule infer;
  ScalarMeaning scalar = nullptr;    // Elementwise
  ElementMeaning element = nullptr;  // Injective and View
  StagesMeaning stages = nullptr;    // Reduction, Opaque and Heavy
  OpTraits traits = {};
};

// Definitions by the form of their meaning, one line in the list of a family.
OpDef elementwise(std::string_view name, ShapeRule infer, ScalarMeaning scalar,
                  OpTraits traits = {});
OpDef by_element(std::string_view name, OpKind kind, ShapeRule infer, ElementMeaning element,
                 OpTraits traits = {});
OpDef by_stages(std::string_view name, OpKind kind, ShapeRule infer, StagesMeaning stages,
                OpTraits traits = {});
// The runtime has the meaning.
OpDef by_runtime(std::string_view name, ShapeRule infer, OpTraits traits = {});

std::span<const OpDef> operators();
const OpDef* find_operator(std::string_view name);
// The name that the runtime's function for it would have; empty where there is none.
std::string host_name(const OpDef& def);

// `wanted`, or `wanted.1`, `wanted.2`, … : the first that the program does not use yet.
std::string free_stage_name(const ir::Program& program, std::string_view wanted);
// Axes named d0, d1, … of a shape, and their index variables.
std::vector<ir::Axis> axes_of(const std::vector<std::int64_t>& shape,
                              std::string_view prefix = "d");
// The shape that operands broadcast to, by the rules of ONNX (aligned at the last dimension).
Result<std::vector<std::int64_t>> broadcast_shape(
    std::span<const std::vector<std::int64_t>> shapes);
// `index` of the broadcast result as an index into an operand of `shape`.
std::vector<ir::Expr> broadcast_index(const std::vector<std::int64_t>& shape,
                                      const std::vector<ir::Expr>& index);

}  // namespace attune::ops
