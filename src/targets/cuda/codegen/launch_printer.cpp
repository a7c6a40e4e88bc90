#include "targets/cuda/codegen/launch_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "compiler/codegen/walk.h"
#include "compiler/ir/nodes/intrinsics.h"
#include "targets/cuda/codegen/unrolling.h"

namespace attune::cuda {

using c_text::memory_type;

namespace {

// Words of C++ and CUDA that C leaves to names.
constexpr std::string_view kWords[] = {
    "and",          "bitand",      "bitor",         "catch",        "class",
    "compl",        "concept",     "const_cast",    "decltype",     "delete",
    "explicit",     "export",      "friend",        "mutable",      "namespace",
    "new",          "noexcept",    "not",           "operator",     "or",
    "private",      "protected",   "public",        "requires",     "template",
    "this",         "throw",       "try",           "typeid",       "typename",
    "using",        "virtual",     "wchar_t",       "xor",          "final",
    "override",     "static_cast", "static_assert", "thread_local", "reinterpret_cast",
    "dynamic_cast", "threadIdx",   "blockIdx",      "blockDim",     "gridDim",
    "warpSize",     "INFINITY",    "NAN",           "isnan",        "isinf",
    "NULL",         "ANY_LANE",    "at_overlap"};

constexpr int kBaseAlignment = 64;                 // of buffers, in bytes
constexpr std::int64_t kMostBlocksAcross = 65535;  // along y or z
constexpr std::int64_t kMostThreadsDeep = 64;      // along z

// Everything is held in memory: arrays that are indexed by constants become registers anyway.
const codegen::StoragePlan& no_plan() {
  static const codegen::StoragePlan plan;
  return plan;
}

// What stands within memory that is allocated around it.
const ir::Stmt& within_memory(const ir::Stmt& s) {
  const auto* storage = ir::as<ir::Allocate>(s);
  return storage != nullptr ? within_memory(storage->body) : s;
}

// Whether a loop over hardware comes next.
bool binds(const ir::Stmt& s) {
  const auto* loop = ir::as<ir::For>(within_memory(s));
  return loop != nullptr && loop->kind == ir::LoopKind::Bound;
}

bool writes_global(const ir::Stmt& s) {
  bool found = false;
  codegen::walk(
      s,
      [&](const ir::Stmt& part) {
        const auto* x = ir::as<ir::Store>(part);
        found |= x != nullptr && x->buffer->scope == ir::Scope::Global;
      },
      [](const ir::Expr&) {});
  return found;
}

// Of the statements that all threads run one after the other, the first that writes what others
// read; null where nothing comes before it.
const ir::StmtNode* first_writing(const ir::Stmt& s) {
  const ir::Stmt& inner = within_memory(s);
  if (binds(inner)) return first_writing(ir::as<ir::For>(inner)->body);
  const auto* list = ir::as<ir::Block>(inner);
  if (list == nullptr) return nullptr;
  for (const ir::Stmt& child : list->stmts) {
    if (!writes_global(child)) continue;
    return &child == &list->stmts.front() ? first_writing(child) : &*child;
  }
  return nullptr;
}

std::int64_t product(const ir::Extents3& extents) { return extents[0] * extents[1] * extents[2]; }

}  // namespace

LaunchPrinter::LaunchPrinter(std::string function, const ir::Stmt& body, const ir::Launch& shape,
                             const std::vector<const ir::BufferNode*>& buffers, bool waits,
                             const target::LaunchFacts& device)
    : Printer(body, no_plan(), kWords),
      function_(std::move(function)),
      body_(body),
      shape_(shape),
      buffers_(buffers),
      waits_(waits),
      device_(device) {
  printed_.grid = shape.grid;
  printed_.block = shape.block;
  // What an axis of the device is too short for goes along x, where there is room.
  if (std::max(shape.grid[1], shape.grid[2]) > kMostBlocksAcross) {
    printed_.grid = {product(shape.grid), 1, 1};
  }
  if (shape.block[2] > kMostThreadsDeep) printed_.block = {product(shape.block), 1, 1};
}

// Blocks that a multiprocessor holds at once, which registers are to be left for: as many as the
// grid has for it and as shared memory leaves room for, while a thread's tile finds its registers.
std::int64_t LaunchPrinter::blocks_together() const {
  constexpr std::int64_t kOfSystem = 1 << 10;    // bytes of shared memory of every block
  constexpr std::int64_t kOtherRegisters = 128;  // bytes: addresses, counters, what is on its way
  if (device_.multiprocessors == 0) return 1;
  const std::int64_t threads = product(shape_.block);
  const std::int64_t each =
      (product(shape_.grid) + device_.multiprocessors - 1) / device_.multiprocessors;
  std::int64_t blocks =
      std::min({each, device_.resident_blocks, device_.resident_threads / threads,
                device_.resident_shared_bytes / (printed_.shared_bytes + kOfSystem)});
  // Not all that a thread holds is held at once.
  const std::int64_t needed = shape_.register_bytes * 3 / 4 + kOtherRegisters;
  while (blocks > 1 && device_.resident_register_bytes / (blocks * threads) < needed) --blocks;
  return std::max<std::int64_t>(1, blocks);
}

PrintedLaunch LaunchPrinter::print() {
  codegen::BufferSet touched, loaded;
  codegen::walk(
      body_,
      [&](const ir::Stmt& s) {
        if (const auto* x = ir::as<ir::Store>(s)) touched.insert(x->buffer.get());
      },
      [&](const Expr& e) {
        if (const auto* x = ir::as<ir::Load>(e)) loaded.insert(x->buffer.get());
      });
  touched.insert(loaded.begin(), loaded.end());
  // NVRTC makes one load of a choice between two, and takes the way past the caches for it when one
  // of them may: what the launch itself wrote would be read as it was before.
  const bool reads_back = std::any_of(buffers_.begin(), buffers_.end(), [&](const auto* buffer) {
    return stored_.contains(buffer) && loaded.contains(buffer);
  });
  const char* const apart = reads_back ? "" : " __restrict__";
  const codegen::BufferSet in_runs = accessed_in_runs(body_);
  std::string parameters;
  for (const ir::BufferNode* buffer : buffers_) {
    if (!touched.contains(buffer)) continue;
    const std::string& name = names_.of(buffer->name);
    const std::string type =
        fmt::format("{}{}*", stored_.contains(buffer) ? "" : "const ", memory_type(buffer->type));
    parameters += fmt::format("{}{}{} {}", parameters.empty() ? "" : ", ", type, apart, name);
    // Of what is only read, this would hide from the compiler that it is.
    if (in_runs.contains(buffer) && stored_.contains(buffer)) {
      text_.line(fmt::format("{0} = ({1})__builtin_assume_aligned({0}, {2});", name, type,
                             kBaseAlignment));
    }
    printed_.parameters.push_back(buffer);
  }
  share_memory();
  if (waits_) {
    parameters += fmt::format("{}int at_overlap", parameters.empty() ? "" : ", ");
    text_.line("if (at_overlap == 1) at_let_next_begin();");
    room_ = first_writing(body_);
  }
  if (!binds(body_)) wait();
  statement(body_);
  const ir::Extents3& cluster = printed_.cluster;
  const std::string together =
      product(cluster) == 1
          ? std::string()
          : fmt::format(" __cluster_dims__({}, {}, {})", cluster[0], cluster[1], cluster[2]);
  const std::string blocks =
      printed_.dynamic_bytes > 0 ? fmt::format(", {}", blocks_together()) : "";
  printed_.text =
      fmt::format("extern \"C\" __global__ void __launch_bounds__({}{}){}\n{}({}) {{\n{}}}\n",
                  product(shape_.block), blocks, together, function_, parameters, text_.str());
  return std::move(printed_);
}

std::string LaunchPrinter::macro(const char* name, int) const { return std::string("V") + name; }

void LaunchPrinter::barrier(const ir::Barrier&) { text_.line("__syncthreads();"); }

// Instructions of warps, and asynchronous copies (prelude/copies.h); all others are hints.
void LaunchPrinter::opaque(const ir::Opaque& x) {
  if (warpgroup_call(x)) return;
  if (const ir::TensorIntrinsic* intrinsic = ir::find_tensor_intrinsic(x.name)) {
    return warp_call(x, *intrinsic);
  }
  if (x.name == ir::kAsyncCommit) return text_.line("at_commit_copies();");
  if (x.name == ir::kAsyncWait) {
    return text_.line(fmt::format("at_wait_for_copies<{}>();", *ir::as_int(x.args[0])));
  }
  if (x.name != ir::kAsyncCopy) return;
  const auto* to = ir::as<ir::Load>(x.args[0]);
  const auto* from = ir::as<ir::Load>(x.args[1]);
  const std::int64_t* count = ir::as_int(x.args[2]);
  CHECK(to && from && count, "an asynchronous copy has two places and a constant length");
  const std::string valid = scalar(x.args[3]);
  text_.line(
      fmt::format("at_copy_async<{}>({}, {}, {});", *count * to->buffer->type.element_bytes(),
                  address(*to->buffer, names_.of(to->buffer->name), to->index[0]),
                  address(*from->buffer, names_.of(from->buffer->name), from->index[0]), valid));
}

void LaunchPrinter::allocate(const ir::Allocate& s) {
  // Shared memory is declared once, for the whole of the function.
  if (s.buffer->scope == ir::Scope::Shared) return statement(s.body);
  Printer::allocate(s);
}

void LaunchPrinter::declare(const ir::BufferNode& buffer) {
  text_.line(fmt::format("{} {}[{}];", memory_type(buffer.type), names_.of(buffer.name),
                         std::max<std::int64_t>(ir::element_count(buffer), 1)));
}

// "threadIdx.y", or the number of the y-th axis within x where the axes were put one behind the
// other.
std::string LaunchPrinter::place_on(const std::string& axis) const {
  const ir::HardwareAxis hardware = ir::hardware_axis(axis);
  const std::string base = hardware.block ? "blockIdx." : "threadIdx.";
  const ir::Extents3& wanted = hardware.block ? shape_.grid : shape_.block;
  const ir::Extents3& real = hardware.block ? printed_.grid : printed_.block;
  const auto dimension = static_cast<std::size_t>(hardware.dimension);
  if (wanted == real) return fmt::format("(int){}{}", base, "xyz"[dimension]);
  std::int64_t before = 1;
  for (std::size_t d = 0; d < dimension; ++d) before *= wanted[d];
  return fmt::format("(int)({}x / {}u % {}u)", base, before, wanted[dimension]);
}

void LaunchPrinter::bound_loop(const ir::For& x) {
  const std::string place = place_on(x.axis);
  if (x.axis == "thread.x") lane_ = x.var;
  text_.line(fmt::format("const {} {} = {};", variable_type(ir::kIndex, facts_of(x)),
                         names_.of(x.var),
                         ir::is_const_int(x.min, 0) ? place : index(x.min) + " + " + place));
  if (!binds(x.body)) wait();
  loop_body(x);
}

// Where a thread knows its place, and has touched no memory.
void LaunchPrinter::wait() {
  if (waits_) text_.line("at_await_work_before();");
}

void LaunchPrinter::before(const ir::Stmt& s) {
  if (&*s == room_) text_.line("if (at_overlap == 2) at_let_next_begin();");
}

void LaunchPrinter::loop(const ir::For& x) {
  if (x.kind == ir::LoopKind::Bound) return bound_loop(x);
  const std::int64_t factor = unroll_factor(x);
  const std::string part = factor > 1 ? fmt::format("#pragma unroll {}", factor) : "";
  serial_loop(x, is_unrolled(x) ? "#pragma unroll" : part);
}

}  // namespace attune::cuda
