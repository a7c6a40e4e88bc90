#include "base/match.h"
#include "runtime/format/json.h"
#include "runtime/format/plan_json.h"

namespace attune::runtime {
namespace {

Json name_json(DType type) { return std::string(name_of(type)); }

template <typename T, typename Convert>
Json array_of(const std::vector<T>& items, Convert convert) {
  JsonArray array;
  array.reserve(items.size());
  for (const T& item : items) array.push_back(convert(item));
  return array;
}

template <typename T>
Json plain_array(const std::vector<T>& items) {
  return array_of(items, [](const T& item) { return Json(item); });
}

// A constant dimension is a number, a run-time extent the pair [maximum, extent].
Json dims_json(const std::vector<Dim>& dims) {
  return array_of(dims, [](const Dim& dim) -> Json {
    if (dim.extent == kNone) return dim.maximum;
    return JsonArray{dim.maximum, dim.extent};
  });
}

Json interface_json(const std::vector<InterfaceTensor>& tensors) {
  return array_of(tensors, [](const InterfaceTensor& tensor) -> Json {
    JsonObject object{
        {"name", tensor.name}, {"type", name_json(tensor.type)}, {"dims", dims_json(tensor.dims)}};
    if (tensor.channels != 0) object.emplace_back("channels", tensor.channels);
    if (!tensor.most.empty()) object.emplace_back("most", plain_array(tensor.most));
    return object;
  });
}

const char* place_name(Place place) {
  switch (place) {
    case Place::Arena:
      return "arena";
    case Place::Constant:
      return "constant";
    case Place::Input:
      return "input";
    case Place::Output:
      return "output";
    case Place::Extents:
      return "extents";
  }
  CHECK(false, "unknown place");
}

Json buffer_json(const Buffer& buffer) {
  JsonArray array{place_name(buffer.place), buffer.position, buffer.bytes};
  if (buffer.space == Space::Device) array.emplace_back("device");
  return array;
}

Json kernel_json(const Kernel& kernel) {
  return JsonObject{
      {"symbol", kernel.symbol},
      {"object", kernel.object},
      {"workspace_bytes", kernel.workspace_bytes},
      {"arguments", array_of(kernel.arguments, [](const KernelArgument& argument) -> Json {
         return JsonArray{argument.bytes, argument.written};
       })}};
}

Json operand_json(const Operand& operand) {
  return JsonArray{operand.buffer, name_json(operand.type), dims_json(operand.dims)};
}

Json attribute_json(const Attribute& attribute) {
  return std::visit(Match{[](std::int64_t value) {
                            return Json(JsonObject{{"int", value}});
                          },
                          [](double value) {
                            return Json(JsonObject{{"float", value}});
                          },
                          [](const std::string& value) {
                            return Json(JsonObject{{"string", value}});
                          },
                          [](const std::vector<std::int64_t>& value) {
                            return Json(JsonObject{{"ints", plain_array(value)}});
                          },
                          [](const std::vector<double>& value) {
                            return Json(JsonObject{{"floats", plain_array(value)}});
                          }},
                    attribute);
}

Json attributes_json(const HostAttributes& attributes) {
  JsonObject object;
  for (const auto& [name, value] : attributes) object.emplace_back(name, attribute_json(value));
  return object;
}

Json block_json(const Block& block);

// Runtimes that know of no handovers refuse loops that have them.
Json loop_json(const Loop& loop) {
  JsonObject object{{"do", loop.handovers.empty() ? "loop" : "handing_loop"},
                    {"trip_count", loop.trip_count},
                    {"trip_count_buffer", loop.trip_count_buffer},
                    {"condition", loop.condition},
                    {"iteration", loop.iteration},
                    {"iterations_extent", loop.iterations_extent},
                    {"body", block_json(loop.body)},
                    {"layer", loop.layer}};
  if (!loop.handovers.empty()) {
    object.emplace_back("handovers", array_of(loop.handovers, [](const Handover& handover) -> Json {
                          return JsonArray{handover.now, handover.next};
                        }));
  }
  return object;
}

Json instruction_json(const Instruction& instruction) {
  return std::visit(
      Match{[](const KernelCall& call) {
              return Json(JsonObject{{"do", "kernel"},
                                     {"kernel", call.kernel},
                                     {"buffers", plain_array(call.buffers)},
                                     {"layer", call.layer},
                                     {"flops", call.flops}});
            },
            [](const HostCall& call) {
              return Json(JsonObject{{"do", "host"},
                                     {"op", call.op},
                                     {"attributes", attributes_json(call.attributes)},
                                     {"inputs", array_of(call.inputs, operand_json)},
                                     {"outputs", array_of(call.outputs, operand_json)},
                                     {"layer", call.layer}});
            },
            [](const Copy& copy) {
              return Json(
                  JsonObject{{"do", "copy"},
                             {"from", JsonArray{copy.from, copy.from_offset, copy.from_step}},
                             {"to", JsonArray{copy.to, copy.to_offset, copy.to_step}},
                             {"bytes", copy.bytes}});
            },
            [](const If& branch) {
              return Json(JsonObject{{"do", "if"},
                                     {"condition", branch.condition},
                                     {"then", block_json(branch.then_block)},
                                     {"else", block_json(branch.else_block)}});
            },
            [](const Loop& loop) { return loop_json(loop); }},
      instruction.kind);
}

Json block_json(const Block& block) { return array_of(block, instruction_json); }

Json device_json(const Plan& plan) {
  JsonObject object{{"kind", plan.device}};
  if (plan.kernel_space == Space::Device) {
    object.emplace_back("arena_bytes", plan.device_arena_bytes);
  }
  return object;
}

}  // namespace

std::string plan_to_json(const Plan& plan) {
  JsonObject object{{"model", plan.model},
                    {"target", plan.target},
                    {"architecture", plan.architecture},
                    {"features", plain_array(plan.features)},
                    {"threads", plan.threads},
                    {"inputs", interface_json(plan.inputs)},
                    {"outputs", interface_json(plan.outputs)},
                    {"extents", plan.extents},
                    {"buffers", array_of(plan.buffers, buffer_json)},
                    {"kernels", array_of(plan.kernels, kernel_json)},
                    {"body", block_json(plan.body)},
                    {"arena_bytes", plan.arena_bytes},
                    {"workspace_bytes", plan.workspace_bytes},
                    {"peak_bytes", plan.peak_bytes}};
  // What is not said stays as it was before there were others.
  if (plan.precision != Plan{}.precision) object.emplace_back("precision", plan.precision);
  if (plan.device != Plan{}.device || plan.kernel_space == Space::Device) {
    object.emplace_back("device", device_json(plan));
  }
  return to_text(std::move(object));
}

}  // namespace attune::runtime
