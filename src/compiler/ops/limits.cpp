#include "compiler/ops/limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attune::ops {
namespace {

Status check_tensor(const ir::BufferNode& buffer) {
  double gib = static_cast<double>(buffer.type.element_bytes()) / (1 << 30);
  for (std::int64_t extent : buffer.shape) gib *= static_cast<double>(extent);
  if (gib <= kLargestTensorGib) return {};
  return invalid(fmt::format("tensor '{}' of shape [{}] takes {:.4g} GiB, more than the limit of "
                             "{:.0f} GiB",
                             buffer.name, fmt::join(buffer.shape, ", "), gib, kLargestTensorGib),
                 "choose smaller sizes");
}

}  // namespace

Status check_size(std::string_view name, std::int64_t value, std::int64_t least) {
  if (value < least)
    return invalid(fmt::format("{} is {}, must be at least {}", name, value, least));
  if (value > kLargestSize) {
    return invalid(fmt::format("{} is {}, must be at most {}", name, value, kLargestSize));
  }
  return {};
}

Status check_sizes(std::span<const NamedSize> sizes) {
  for (const NamedSize& size : sizes) {
    ATTUNE_RETURN_IF_ERROR(check_size(size.name, size.value, size.least));
  }
  return {};
}

Status check_dtype(std::string_view op, ir::DType type, std::span<const ir::DType> accepted) {
  std::string names;
  for (ir::DType candidate : accepted) {
    if (candidate == type) return {};
    names += (names.empty() ? "" : ", ") + ir::to_string(candidate);
  }
  return unsupported(fmt::format("{} does not take elements of type {}", op, ir::to_string(type)),
                     fmt::format("choose one of {}", names));
}

Result<ir::Program> check_memory(ir::Program program) {
  for (const ir::Input& input : program.inputs) ATTUNE_RETURN_IF_ERROR(check_tensor(*input.buffer));
  for (const ir::Buffer& buffer : program.outputs) ATTUNE_RETURN_IF_ERROR(check_tensor(*buffer));
  for (const ir::Stage& stage : program.stages) {
    for (const ir::Buffer& buffer : stage.outputs) ATTUNE_RETURN_IF_ERROR(check_tensor(*buffer));
  }
  return program;
}

}  // namespace attune::ops
