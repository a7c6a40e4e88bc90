// Proves a plan safe to run: every number is compared with the table or memory it points into. The
// executor relies on it and checks again only what depends on data (extents, iteration numbers).
#include <algorithm>
#include <optional>

#include "base/match.h"
#include "runtime/format/plan.h"
#include "runtime/host/host.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/tensor.h"

namespace attune::runtime {
namespace {

constexpr int kDeepestBlock = 32;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 47;  // of an address space
constexpr std::int32_t kMostThreads = 4096;
constexpr std::int32_t kMostExtents = 1 << 20;
constexpr std::int64_t kMostCompared = 4096;  // what is compared with each other, pair by pair

Error refused(const std::string& why) {
  return {ErrorCode::Corrupt, "the plan is invalid: " + why, "compile the model again"};
}

std::string number(std::int64_t value) { return std::to_string(value); }

bool within(std::int64_t position, std::int64_t bytes, std::int64_t room) {
  return position >= 0 && bytes >= 0 && position <= room && bytes <= room - position;
}

// offset + step * iteration, or nothing where it has no 64-bit number.
bool stays_within(std::int64_t offset, std::int64_t step, std::int64_t iteration,
                  std::int64_t bytes, std::int64_t room) {
  std::int64_t position = 0;
  if (__builtin_mul_overflow(step, iteration, &position)) return false;
  if (__builtin_add_overflow(position, offset, &position)) return false;
  return within(position, bytes, room);
}

class Validator {
 public:
  Validator(const Plan& plan, const SectionSizes& sizes) : plan_(plan), sizes_(sizes) {}

  Status run() {
    ATTUNE_RETURN_IF_ERROR(check_device());
    ATTUNE_RETURN_IF_ERROR(check_totals());
    for (const auto* side : {&plan_.inputs, &plan_.outputs}) {
      for (const InterfaceTensor& tensor : *side) {
        ATTUNE_RETURN_IF_ERROR(check_tensor(tensor.type, tensor.dims, "'" + tensor.name + "'"));
        ATTUNE_RETURN_IF_ERROR(check_blocks(tensor));
        ATTUNE_RETURN_IF_ERROR(check_most(tensor));
      }
    }
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      ATTUNE_RETURN_IF_ERROR(check_buffer(i));
    }
    for (std::size_t i = 0; i < plan_.kernels.size(); ++i) {
      ATTUNE_RETURN_IF_ERROR(check_kernel(i));
    }
    return check_block(plan_.body, 0, 1);
  }

 private:
  // The target, whose text begins with its kind, says what code may ask the system for (a cage);
  // the device runs it. They are of one kind.
  Status check_device() const {
    const std::string kind = plan_.target.substr(0, plan_.target.find(' '));
    if (kind == plan_.device) return {};
    return refused("its target is '" + kind + "', its device '" + plan_.device + "'");
  }

  // How often the innermost loop runs at most; kNone when only running tells.
  using Trips = std::int64_t;

  // One number for all elements, or one for each.
  static Status check_most(const InterfaceTensor& tensor) {
    const std::size_t count = tensor.most.size();
    if (count <= 1) return {};
    const auto bytes = maximal_bytes(tensor.type, tensor.dims).value();
    if (count * byte_size(tensor.type) == static_cast<std::size_t>(bytes)) return {};
    return refused("'" + tensor.name + "' has " + std::to_string(count) +
                   " largest values, which are not one for each element");
  }

  // As many channels as fill the blocks, but for lanes of the last one.
  static Status check_blocks(const InterfaceTensor& tensor) {
    if (tensor.channels == 0) return {};
    const auto is_constant = [](const Dim& dim) { return dim.extent == kNone; };
    if (tensor.dims.size() == 5 &&
        std::all_of(tensor.dims.begin(), tensor.dims.end(), is_constant)) {
      const std::int64_t blocks = tensor.dims[1].maximum, lanes = tensor.dims.back().maximum;
      if (tensor.channels > (blocks - 1) * lanes && tensor.channels <= blocks * lanes) return {};
    }
    return refused("'" + tensor.name + "' has " + number(tensor.channels) +
                   " channels, which do not fit its blocks");
  }

  Status check_totals() {
    const auto sane = [](std::int64_t bytes) { return bytes >= 0 && bytes <= kMostBytes; };
    if (!sane(plan_.arena_bytes) || !sane(plan_.device_arena_bytes) ||
        !sane(plan_.workspace_bytes) || plan_.peak_bytes < 0) {
      return refused("it asks for " + number(plan_.arena_bytes) + " bytes of memory and " +
                     number(plan_.workspace_bytes) + " of workspace");
    }
    if (plan_.threads < 1 || plan_.threads > kMostThreads) {
      return refused("it is made for " + number(plan_.threads) + " threads");
    }
    if (plan_.extents < 0 || plan_.extents > kMostExtents) {
      return refused("it has " + number(plan_.extents) + " run-time extents");
    }
    return {};
  }

  Status check_tensor(DType type, const std::vector<Dim>& dims, const std::string& name) {
    if (dims.size() > kMaxRank) {
      return refused("tensor " + name + " has " + number(std::ssize(dims)) + " dimensions");
    }
    for (const Dim& dim : dims) {
      if (dim.maximum < 0 || dim.extent < kNone || dim.extent >= plan_.extents) {
        return refused("tensor " + name + " has a dimension of " + number(dim.maximum) +
                       " with run-time extent " + number(dim.extent));
      }
    }
    if (const auto bytes = maximal_bytes(type, dims); !bytes.ok() || *bytes > kMostBytes) {
      return refused("tensor " + name + " is too large");
    }
    return {};
  }

  Status check_buffer(std::size_t index) {
    const Buffer& buffer = plan_.buffers[index];
    const auto bad = [&](const std::string& why) {
      return refused("buffer " + number(static_cast<std::int64_t>(index)) + " " + why);
    };
    const auto in_memory = [&](std::int64_t room, const char* what) -> Status {
      if (!within(buffer.position, buffer.bytes, room)) {
        return bad("of " + number(buffer.bytes) + " bytes at " + number(buffer.position) +
                   " does not fit the " + number(room) + " bytes of " + what);
      }
      if (buffer.position % static_cast<std::int64_t>(kAlignment) != 0) {
        return bad("at " + number(buffer.position) + " is not aligned to 64 bytes");
      }
      return {};
    };
    const auto in_interface = [&](const std::vector<InterfaceTensor>& tensors) -> Status {
      if (buffer.position < 0 || buffer.position >= std::ssize(tensors)) {
        return bad("names tensor " + number(buffer.position) + " of " +
                   number(std::ssize(tensors)));
      }
      const InterfaceTensor& tensor = tensors[static_cast<std::size_t>(buffer.position)];
      if (!within(0, buffer.bytes, maximal_bytes(tensor.type, tensor.dims).value())) {
        return bad("is larger than '" + tensor.name + "'");
      }
      return {};
    };
    const bool on_device = buffer.space == Space::Device;
    if (on_device && buffer.place != Place::Arena && buffer.place != Place::Constant) {
      return bad("cannot lie in the memory of a device");
    }
    switch (buffer.place) {
      case Place::Arena:
        return in_memory(on_device ? plan_.device_arena_bytes : plan_.arena_bytes, "memory");
      case Place::Constant:
        return in_memory(sizes_.weight_bytes, "weights");
      case Place::Input:
        return in_interface(plan_.inputs);
      case Place::Output:
        return in_interface(plan_.outputs);
      case Place::Extents:
        if (buffer.position != 0) return bad("does not begin with the run-time extents");
        return in_memory(8 * std::int64_t{plan_.extents}, "run-time extents");
    }
    return bad("has no place");
  }

  Status check_kernel(std::size_t index) {
    const Kernel& kernel = plan_.kernels[index];
    const auto bad = [&](const std::string& why) {
      return refused("kernel '" + kernel.symbol + "' " + why);
    };
    if (kernel.symbol.empty()) return bad("has no name");
    if (kernel.object < 0 || kernel.object >= sizes_.objects) {
      return bad("is in object " + number(kernel.object) + " of " + number(sizes_.objects));
    }
    if (!within(0, kernel.workspace_bytes, plan_.workspace_bytes)) {
      return bad("asks for " + number(kernel.workspace_bytes) + " bytes of workspace");
    }
    for (const KernelArgument& argument : kernel.arguments) {
      if (argument.bytes < 0) return bad("has an argument of negative size");
    }
    return {};
  }

  // A buffer of at least that size, and one that may be written if it is.
  Status check_use(BufferId id, std::int64_t bytes, bool written, const std::string& user,
                   std::optional<Space> space = Space::Host) {
    if (id < 0 || id >= std::ssize(plan_.buffers)) {
      return refused(user + " uses buffer " + number(id) + " of " +
                     number(std::ssize(plan_.buffers)));
    }
    const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(id)];
    if (!within(0, bytes, buffer.bytes)) {
      return refused(user + " needs " + number(bytes) + " bytes of buffer " + number(id) +
                     ", which has " + number(buffer.bytes));
    }
    if (space && buffer.space != *space) {
      return refused(user + " cannot reach buffer " + number(id) + " in the memory of the " +
                     (buffer.space == Space::Host ? "host" : "device"));
    }
    if (written && buffer.place != Place::Arena && buffer.place != Place::Output) {
      return refused(user + " writes buffer " + number(id) + ", which is read only");
    }
    return {};
  }

  bool overlap(BufferId a, BufferId b) const {
    const Buffer& x = plan_.buffers[static_cast<std::size_t>(a)];
    const Buffer& y = plan_.buffers[static_cast<std::size_t>(b)];
    if (x.place != y.place || x.space != y.space || x.bytes == 0 || y.bytes == 0) return false;
    if (x.place == Place::Input || x.place == Place::Output) return x.position == y.position;
    return x.position < y.position + y.bytes && y.position < x.position + x.bytes;
  }

  Status check_call(const KernelCall& call) {
    if (call.kernel < 0 || call.kernel >= std::ssize(plan_.kernels)) {
      return refused("a call names kernel " + number(call.kernel) + " of " +
                     number(std::ssize(plan_.kernels)));
    }
    const Kernel& kernel = plan_.kernels[static_cast<std::size_t>(call.kernel)];
    const std::string user = "kernel '" + kernel.symbol + "'";
    if (call.buffers.size() != kernel.arguments.size()) {
      return refused(user + " is called with " + number(std::ssize(call.buffers)) +
                     " buffers and takes " + number(std::ssize(kernel.arguments)));
    }
    for (std::size_t i = 0; i < call.buffers.size(); ++i) {
      const KernelArgument& argument = kernel.arguments[i];
      ATTUNE_RETURN_IF_ERROR(
          check_use(call.buffers[i], argument.bytes, argument.written, user, plan_.kernel_space));
    }
    return {};
  }

  Status check_call(const HostCall& call) {
    const std::string user = "host operator '" + call.op + "'";
    if (!has_host(call.op)) {
      return Error{ErrorCode::Unsupported, "this runtime has no " + user,
                   "use the runtime that belongs to the compiler, or a newer one"};
    }
    for (const std::int64_t count : {std::ssize(call.inputs), std::ssize(call.outputs)}) {
      if (count > kMostCompared) {
        return refused(user + " has " + number(count) + " operands, more than " +
                       number(kMostCompared));
      }
    }
    const auto check_operand = [&](const Operand& operand, bool written) -> Status {
      if (operand.buffer == kNone) return {};
      ATTUNE_RETURN_IF_ERROR(check_tensor(operand.type, operand.dims, "of " + user));
      return check_use(operand.buffer, maximal_bytes(operand.type, operand.dims).value(), written,
                       user);
    };
    for (const Operand& input : call.inputs) ATTUNE_RETURN_IF_ERROR(check_operand(input, false));
    for (const Operand& output : call.outputs) ATTUNE_RETURN_IF_ERROR(check_operand(output, true));
    // An output that overlaps an operand would change indices after they were checked.
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      const auto clashes = [&](const Operand& other) {
        return other.buffer != kNone && overlap(call.outputs[i].buffer, other.buffer);
      };
      if (call.outputs[i].buffer == kNone) continue;
      if (std::any_of(call.inputs.begin(), call.inputs.end(), clashes) ||
          std::any_of(call.outputs.begin(), call.outputs.begin() + static_cast<std::ptrdiff_t>(i),
                      clashes)) {
        return refused("output " + number(static_cast<std::int64_t>(i)) + " of " + user +
                       " overlaps another operand");
      }
    }
    return {};
  }

  Status check_copy(const Copy& copy, Trips trips) {
    ATTUNE_RETURN_IF_ERROR(check_use(copy.from, copy.bytes, false, "a copy", {}));
    ATTUNE_RETURN_IF_ERROR(check_use(copy.to, copy.bytes, true, "a copy", {}));
    const std::int64_t from_room = plan_.buffers[static_cast<std::size_t>(copy.from)].bytes;
    const std::int64_t to_room = plan_.buffers[static_cast<std::size_t>(copy.to)].bytes;
    if (trips <= 0) return {};  // never runs, or is checked when it does
    for (const std::int64_t iteration : {std::int64_t{0}, trips - 1}) {
      if (!stays_within(copy.from_offset, copy.from_step, iteration, copy.bytes, from_room) ||
          !stays_within(copy.to_offset, copy.to_step, iteration, copy.bytes, to_room)) {
        return refused("a copy of " + number(copy.bytes) + " bytes leaves its buffers");
      }
    }
    return {};
  }

  // Equally large: whatever memory a buffer has, what fits into it stays within that.
  Status check_handovers(const Loop& loop) {
    if (std::ssize(loop.handovers) > kMostCompared) {
      return refused("a loop hands over " + number(std::ssize(loop.handovers)) +
                     " buffers, more than " + number(kMostCompared));
    }
    std::vector<BufferId> exchanged;
    for (const auto& [now, next] : loop.handovers) {
      for (const BufferId id : {now, next}) {
        ATTUNE_RETURN_IF_ERROR(check_use(id, 0, true, "a loop", {}));
        for (const BufferId other : exchanged) {
          if (id == other || overlap(id, other)) {
            return refused("a loop hands over buffer " + number(id) + ", which overlaps another");
          }
        }
        exchanged.push_back(id);
      }
      const Buffer& one = plan_.buffers[static_cast<std::size_t>(now)];
      const Buffer& other = plan_.buffers[static_cast<std::size_t>(next)];
      if (one.place != Place::Arena || other.place != Place::Arena || one.bytes != other.bytes ||
          one.space != other.space) {
        return refused("a loop hands over buffer " + number(now) + " to buffer " + number(next) +
                       ", which is no memory of the same size");
      }
    }
    return {};
  }

  Status check_loop(const Loop& loop, int depth) {
    Trips trips = loop.trip_count;
    if (loop.trip_count < 0 && loop.trip_count_buffer == kNone && loop.condition == kNone) {
      return refused("a loop has no end");
    }
    if (loop.trip_count_buffer != kNone) {
      trips = loop.trip_count >= 0 ? loop.trip_count : kNone;
      ATTUNE_RETURN_IF_ERROR(check_use(loop.trip_count_buffer, 8, false, "a loop"));
    }
    if (loop.condition != kNone) {
      ATTUNE_RETURN_IF_ERROR(check_use(loop.condition, 1, false, "a loop"));
    }
    if (loop.iteration != kNone) {
      ATTUNE_RETURN_IF_ERROR(check_use(loop.iteration, 8, true, "a loop"));
    }
    if (loop.iterations_extent < kNone || loop.iterations_extent >= plan_.extents) {
      return refused("a loop sets run-time extent " + number(loop.iterations_extent));
    }
    ATTUNE_RETURN_IF_ERROR(check_handovers(loop));
    return check_block(loop.body, depth + 1, trips);
  }

  Status check_if(const If& branch, int depth, Trips trips) {
    ATTUNE_RETURN_IF_ERROR(check_use(branch.condition, 1, false, "a branch"));
    ATTUNE_RETURN_IF_ERROR(check_block(branch.then_block, depth + 1, trips));
    return check_block(branch.else_block, depth + 1, trips);
  }

  Status check_block(const Block& block, int depth, Trips trips) {
    if (depth > kDeepestBlock) return refused("its blocks are nested too deeply");
    for (const Instruction& instruction : block) {
      ATTUNE_RETURN_IF_ERROR(
          std::visit(Match{[&](const KernelCall& call) { return check_call(call); },
                           [&](const HostCall& call) { return check_call(call); },
                           [&](const Copy& copy) { return check_copy(copy, trips); },
                           [&](const If& branch) { return check_if(branch, depth, trips); },
                           [&](const Loop& loop) { return check_loop(loop, depth); }},
                     instruction.kind));
    }
    return {};
  }

  const Plan& plan_;
  const SectionSizes& sizes_;
};

}  // namespace

Result<std::int64_t> maximal_bytes(DType type, const std::vector<Dim>& dims) {
  std::vector<std::int64_t> shape;
  shape.reserve(dims.size());
  for (const Dim& dim : dims) shape.push_back(dim.maximum);
  return checked_bytes(type, shape);
}

Status validate(const Plan& plan, const SectionSizes& sizes) {
  return Validator(plan, sizes).run();
}

}  // namespace attune::runtime
