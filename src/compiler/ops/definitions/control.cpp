// Control flow. The bodies are graphs of the node; here only their types are known.
//   if {}: condition, captures…; bodies {then, else}, both of captures…
//   loop {carried, scanned, outputs_scanned, has_trip_count, has_condition, max_trips,
//         reverse_inputs, reverse_outputs, extent}
//     inputs  [trip count or absent, condition or absent, carried…, scan inputs…, captures…]
//     body    [iteration i64, carried…, slices…, captures…]
//             -> [condition (if has_condition), carried…, slices of scan outputs…]
//     outputs [carried…, scan outputs…]
//   Scan inputs are sliced, scan outputs stacked along axis 0, backwards where reverse_… is 1.
//   max_trips is how often the body runs at most (-1: nobody knows, then nothing is stacked);
//   `extent` is the run-time extent that says how often it ran, -1 if that is max_trips for sure.
#include <fmt/format.h>

#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using Types = Result<std::vector<TensorType>>;

Types infer_if(const OpCall& call) {
  CHECK(call.bodies.size() == 2, "an if has two bodies");
  if (!call.inputs[0].dtype.is_bool() || call.inputs[0].elements() != 1) {
    return invalid(
        fmt::format("the condition of an if is one bool, not {}", to_string(call.inputs[0])));
  }
  const auto& yes = call.bodies[0];
  const auto& no = call.bodies[1];
  if (yes.size() != no.size()) {
    return invalid(
        fmt::format("the branches of an if give {} and {} values", yes.size(), no.size()));
  }
  for (std::size_t i = 0; i < yes.size(); ++i) {
    if (yes[i] != no[i]) {
      return unsupported(
          fmt::format("output {} of an if is {} or {}", i, to_string(yes[i]), to_string(no[i])),
          "both branches must give the same type and shape");
    }
  }
  return yes;
}

Types infer_loop(const OpCall& call) {
  CHECK(call.bodies.size() == 1, "a loop has one body");
  const std::vector<TensorType>& results = call.bodies[0];
  const auto carried = static_cast<std::size_t>(call.integer("carried"));
  const auto stacked = static_cast<std::size_t>(call.integer("outputs_scanned"));
  const std::size_t first = call.integer("has_condition") != 0 ? 1 : 0;
  if (results.size() != first + carried + stacked) {
    return invalid(fmt::format("the body of a loop gives {} values instead of {}", results.size(),
                               first + carried + stacked));
  }
  std::vector<TensorType> types;
  for (std::size_t i = 0; i < carried; ++i) {
    const TensorType& before = call.inputs[2 + i];
    const TensorType& after = results[first + i];
    if (before != after) {
      return unsupported(fmt::format("the loop turns its value {} from {} into {}", i,
                                     to_string(before), to_string(after)),
                         "values that a loop carries must keep their shape");
    }
    types.push_back(before);
  }
  const std::int64_t trips = call.integer("max_trips");
  const auto extent = static_cast<int>(call.integer("extent"));
  if (stacked > 0 && trips < 0) {
    return unsupported(
        "nothing bounds how often the loop runs, so its stacked outputs have no "
        "largest size");
  }
  for (std::size_t i = 0; i < stacked; ++i) {
    TensorType type = results[first + carried + i];
    type.shape.insert(type.shape.begin(), trips);
    if (!type.extents.empty() || extent != kConstantExtent) {
      type.extents.resize(type.shape.size() - 1, kConstantExtent);
      type.extents.insert(type.extents.begin(), extent);
    }
    types.push_back(std::move(type));
  }
  return types;
}

}  // namespace

std::vector<OpDef> control_operators() {
  return {{"if", OpKind::Control, infer_if}, {"loop", OpKind::Control, infer_loop}};
}

}  // namespace attune::ops
