#include "compiler/ir/interpret/parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attune::ir {

Status check_parameters(const Kernel& kernel, const std::vector<Array>& buffers) {
  if (buffers.size() != kernel.params.size()) {
    return invalid(fmt::format("kernel '{}' takes {} buffers, {} were given", kernel.name,
                               kernel.params.size(), buffers.size()));
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const BufferNode& wanted = *kernel.params[i];
    if (buffers[i].type == wanted.type && buffers[i].shape == wanted.shape) continue;
    return invalid(fmt::format("parameter '{}' is {}[{}], {}[{}] was given", wanted.name,
                               to_string(wanted.type), fmt::join(wanted.shape, ", "),
                               to_string(buffers[i].type), fmt::join(buffers[i].shape, ", ")));
  }
  return {};
}

void load_parameters(Frame& frame, const std::vector<Array>& buffers, int initialised) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    frame.memories[i] = std::make_shared<Memory>(buffers[i].count());
    const bool holds_data = initialised < 0 || i < static_cast<std::size_t>(initialised);
    if (holds_data) frame.memories[i]->assign(buffers[i]);
  }
}

void store_parameters(const Frame& frame, std::vector<Array>& buffers) {
  for (std::size_t i = 0; i < buffers.size(); ++i) frame.memories[i]->copy_to(buffers[i]);
}

}  // namespace attune::ir
