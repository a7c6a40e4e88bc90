// The static plan of a compiled model: what the executor does, decided ahead of time. Memory is one
// flat table of buffers, work is a block of instructions that name buffers by number. Plain data
// without pointers; the artifact holds it as JSON (plan_json.h), and validate() proves that running
// it stays inside its memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "runtime/memory/dtype.h"

namespace attune::runtime {

using BufferId = std::int32_t;  // index into Plan::buffers
using ExtentId = std::int32_t;  // index into the table of run-time extents
inline constexpr std::int32_t kNone = -1;

// Tensors have at most this many dimensions.
inline constexpr std::size_t kMaxRank = 16;

// One dimension of a tensor: the constant `maximum`, or a run-time extent that is at most that.
// Host operators with outputs of data-dependent size, and inputs, set the extents they name.
struct Dim {
  std::int64_t maximum = 0;
  ExtentId extent = kNone;
  bool operator==(const Dim&) const = default;
};

// A tensor of the model's interface: row-major, compact for its actual extents.
struct InterfaceTensor {
  std::string name;
  DType type = DType::F32;
  std::vector<Dim> dims;
  // Not 0: it stands for a tensor [n, channels, …] and lies in blocks, [n, blocks, …, lanes].
  std::int64_t channels = 0;
  // Of an input that sizes follow from: it holds 0 to these, one for all elements or one for each.
  std::vector<std::int64_t> most = {};
  bool operator==(const InterfaceTensor&) const = default;
};

enum class Place : std::uint8_t {
  Arena,     // `position` bytes into the memory of a session, aligned to 64
  Constant,  // `position` bytes into the weights, aligned to 64; read only
  Input,     // the caller's input number `position`; read only
  Output,    // the caller's output number `position`
  Extents,   // the table of run-time extents as i64, for kernels that read them; read only
};

// The two memories: that of the host, and that of a device with memory of its own.
enum class Space : std::uint8_t { Host, Device };

struct Buffer {
  Place place = Place::Arena;
  std::int64_t position = 0;
  std::int64_t bytes = 0;
  Space space = Space::Host;  // Device: arenas and constants only; each space has its arena
  bool operator==(const Buffer&) const = default;
};

// What a kernel touches: the bytes it needs behind each argument, and whether it writes there.
struct KernelArgument {
  std::int64_t bytes = 0;
  bool written = false;
  bool operator==(const KernelArgument&) const = default;
};

struct Kernel {
  std::string symbol;
  std::int32_t object = 0;  // which shared object of the artifact holds it
  std::int64_t workspace_bytes = 0;
  std::vector<KernelArgument> arguments;
  bool operator==(const Kernel&) const = default;
};

// A tensor that a host operator reads or writes. A left-out optional operand has no buffer (kNone).
struct Operand {
  BufferId buffer = kNone;
  DType type = DType::F32;
  std::vector<Dim> dims;
  bool operator==(const Operand&) const = default;
};

using Attribute =
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;
using HostAttributes = std::map<std::string, Attribute, std::less<>>;

struct Instruction;
using Block = std::vector<Instruction>;

struct KernelCall {
  std::int32_t kernel = 0;
  std::vector<BufferId> buffers;  // in the order of the kernel's arguments
  std::string layer;              // for profiles
  double flops = 0.0;
  bool operator==(const KernelCall&) const = default;
};

struct HostCall {
  std::string op;
  HostAttributes attributes;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::string layer;
  bool operator==(const HostCall&) const = default;
};

// Moves `bytes` from from[from_offset + i * from_step] to to[to_offset + i * to_step], i being the
// iteration number of the innermost loop around it (0 outside of loops); from one space to the
// other where the buffers' differ. The ranges may overlap.
struct Copy {
  BufferId from = kNone;
  BufferId to = kNone;
  std::int64_t bytes = 0;
  std::int64_t from_offset = 0;
  std::int64_t to_offset = 0;
  std::int64_t from_step = 0;
  std::int64_t to_step = 0;
  bool operator==(const Copy&) const = default;
};

struct If {
  BufferId condition = kNone;  // one bool
  Block then_block;
  Block else_block;
  bool operator==(const If&) const = default;
};

// Two buffers of the arena, equally large, that exchange their memory at the end of each iteration:
// what one writes to `next` the following one finds in `now`. Behind the loop they have their own
// memory again, and `now` holds what the last iteration left.
struct Handover {
  BufferId now = kNone;
  BufferId next = kNone;
  bool operator==(const Handover&) const = default;
};

// Runs the body while the iteration number is below the trip count and the condition holds; one of
// the two at least is there. Values carried from one iteration to the next are Copies at the end of
// the body, or handed over.
struct Loop {
  std::int64_t trip_count = kNone;     // a constant; kNone: see the buffer
  BufferId trip_count_buffer = kNone;  // one i64
  BufferId condition = kNone;          // one bool, read before each iteration
  BufferId iteration = kNone;          // one i64, receives the iteration number
  ExtentId iterations_extent = kNone;  // receives how many iterations ran
  Block body;
  std::string layer;
  std::vector<Handover> handovers = {};
  bool operator==(const Loop&) const = default;
};

struct Instruction {
  std::variant<KernelCall, HostCall, Copy, If, Loop> kind;
  bool operator==(const Instruction&) const = default;
};

struct Plan {
  std::string model;
  std::string target;             // as the compiler writes it
  std::string precision = "f32";  // that heavy operators compute in: for reports
  std::string device = "cpu";     // the kind of device that runs it (runtime/execution/device.h)
  std::string architecture;       // "x86_64", "aarch64"
  std::vector<std::string> features;  // CPU features the code uses, by their LLVM names
  std::int32_t threads = 1;           // how many workers the code was made for
  std::vector<InterfaceTensor> inputs;
  std::vector<InterfaceTensor> outputs;
  std::int32_t extents = 0;  // size of the table of run-time extents
  std::vector<Buffer> buffers;
  std::vector<Kernel> kernels;
  Block body;
  Space kernel_space = Space::Host;  // where kernels find all their buffers
  std::int64_t arena_bytes = 0;
  std::int64_t device_arena_bytes = 0;
  std::int64_t workspace_bytes = 0;  // the most any kernel asks for
  std::int64_t peak_bytes = 0;       // arena, workspace, inputs and outputs: for reports
  bool operator==(const Plan&) const = default;
};

// What the plan's positions point into.
struct SectionSizes {
  std::int64_t weight_bytes = 0;
  std::int32_t objects = 0;
};

// Whether every number of the plan stays within its table or memory. After that, running it reads
// and writes nothing else, whatever the inputs (kernels are trusted to keep to their arguments).
Status validate(const Plan& plan, const SectionSizes& sizes);

// Bytes of a tensor at its maximal extents; fails where that has no 64-bit number.
Result<std::int64_t> maximal_bytes(DType type, const std::vector<Dim>& dims);

}  // namespace attune::runtime
