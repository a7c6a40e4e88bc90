#include "targets/cuda/codegen/kernel_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/tensor_loops.h"
#include "compiler/codegen/walk.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"
#include "targets/cuda/codegen/launch_printer.h"
#include "targets/cuda/codegen/prelude.h"
#include "targets/cuda/codegen/unrolling.h"
#include "targets/cuda/codegen/warpgroups.h"

namespace attune::cuda {
namespace {

constexpr std::int64_t kScratchAlignment = 256;

// A buffer in global memory, and what it is for those who launch.
struct GlobalBuffer {
  const ir::BufferNode* buffer = nullptr;
  Argument argument;
};

// What is wrong with a statement inside of the bound loops of a launch; empty when nothing is.
std::string complaint(const ir::Stmt& s) {
  if (const auto* loop = ir::as<ir::For>(s)) {
    if (loop->kind == ir::LoopKind::Vectorized || loop->kind == ir::LoopKind::Unrolled) {
      return fmt::format("loop '{}' is still marked vectorized or unrolled", loop->var);
    }
    if (loop->kind == ir::LoopKind::Parallel) {
      return fmt::format("loop '{}' is shared by cores, which a card does not have", loop->var);
    }
    if (loop->kind == ir::LoopKind::Bound) {
      return fmt::format("loop '{}' is bound to {}, but stands inside of other statements",
                         loop->var, loop->axis);
    }
  }
  if (const auto* x = ir::as<ir::Store>(s); x && x->index.size() != 1) {
    return fmt::format("a store to buffer '{}' has {} indices, must have 1", x->buffer->name,
                       x->index.size());
  }
  if (const auto* x = ir::as<ir::Allocate>(s); x && x->buffer->scope == ir::Scope::Global) {
    return fmt::format("global buffer '{}' is allocated inside of a launch", x->buffer->name);
  }
  return {};
}

std::string complaint(const ir::Expr& e) {
  const auto* x = ir::as<ir::Load>(e);
  if (!x || x->index.size() == 1) return {};
  return fmt::format("a load of buffer '{}' has {} indices, must have 1", x->buffer->name,
                     x->index.size());
}

// Instructions of warps are run by the threads along x.
std::string complaint_about_warps(const ir::Stmt& s, const ir::Launch& shape) {
  std::string why;
  codegen::walk(
      s, [](const ir::Stmt&) {},
      [&](const ir::Expr& e) {
        const auto* call = ir::as<ir::Opaque>(e);
        const auto* intrinsic = call ? ir::find_tensor_intrinsic(call->name) : nullptr;
        if (!intrinsic || !intrinsic->warp || shape.block[0] == intrinsic->warp->lanes) return;
        why = fmt::format("'{}' is run by {} lanes together, and thread.x has {}", call->name,
                          intrinsic->warp->lanes, shape.block[0]);
      });
  return why;
}

// Bound loops come first, with nothing but memory between them, and are as long as their axis.
std::string complaint_about_launch(const ir::Stmt& s, const ir::Launch& shape) {
  if (const auto* x = ir::as<ir::Allocate>(s); x && x->buffer->scope != ir::Scope::Global) {
    return complaint_about_launch(x->body, shape);
  }
  const auto* loop = ir::as<ir::For>(s);
  if (loop && loop->kind == ir::LoopKind::Bound) {
    const ir::HardwareAxis axis = ir::hardware_axis(loop->axis);
    const auto dimension = static_cast<std::size_t>(axis.dimension);
    const std::int64_t length = (axis.block ? shape.grid : shape.block)[dimension];
    if (!ir::is_const_int(loop->extent, length)) {
      return fmt::format("loop '{}' is not as long as its axis {}, which has {}", loop->var,
                         loop->axis, length);
    }
    return complaint_about_launch(loop->body, shape);
  }
  std::string why;
  const auto add = [&](const std::string& text) {
    if (why.empty()) why = text;
  };
  codegen::walk(
      s, [&](const ir::Stmt& part) { add(complaint(part)); },
      [&](const ir::Expr& e) { add(complaint(e)); });
  return why;
}

class KernelSplitter {
 public:
  KernelSplitter(const ir::Kernel& kernel, const ir::Stmt& body, bool waits,
                 const target::LaunchFacts& device)
      : name_(kernel.name),
        body_(body),
        waits_(waits),
        device_(device),
        shapes_(ir::launches_of(kernel)) {
    for (std::size_t i = 0; i < kernel.params.size(); ++i) {
      buffers_.push_back({kernel.params[i].get(), {false, static_cast<std::int64_t>(i)}});
    }
    text_.text = fmt::format("#include \"{}\"\n", kPreludeName) + warpgroup_functions(body);
  }

  Result<KernelText> split() {
    visit(body_, 0);
    if (!why_.empty()) {
      return unsupported(fmt::format("kernel '{}' cannot be written as CUDA: {}", name_, why_),
                         "schedules for other kinds of targets do not fit");
    }
    return std::move(text_);
  }

 private:
  // Launches run one after the other, so memory is used again when its scope has ended.
  void visit(const ir::Stmt& s, std::int64_t scratch) {
    if (const auto* list = ir::as<ir::Block>(s)) {
      for (const ir::Stmt& child : list->stmts) visit(child, scratch);
      return;
    }
    const auto* storage = ir::as<ir::Allocate>(s);
    if (!storage || storage->buffer->scope != ir::Scope::Global) return launch(s);
    const ir::BufferNode* buffer = storage->buffer.get();
    const std::int64_t bytes = ir::element_count(*buffer) * buffer->type.bytes();
    const std::int64_t end =
        scratch + (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
    text_.scratch_bytes = std::max(text_.scratch_bytes, end);
    buffers_.push_back({buffer, {true, scratch}});
    visit(storage->body, end);
    buffers_.pop_back();
  }

  void launch(const ir::Stmt& s) {
    const ir::Launch& shape = shapes_[text_.launches.size()];
    if (why_.empty()) why_ = complaint_about_launch(s, shape);
    if (why_.empty()) why_ = complaint_about_warps(s, shape);
    if (!why_.empty()) return;
    std::string function = "attune_" + c_text::identifier(name_);
    if (shapes_.size() > 1) function += fmt::format("_{}", text_.launches.size());
    std::vector<const ir::BufferNode*> buffers;
    for (const GlobalBuffer& global : buffers_) buffers.push_back(global.buffer);
    const PrintedLaunch printed =
        LaunchPrinter(function, s, shape, buffers, waits_, device_).print();
    LaunchImage image{function, printed.grid, printed.block, printed.dynamic_bytes, {}, waits_};
    for (const ir::BufferNode* parameter : printed.parameters) {
      const auto found = std::find_if(buffers_.begin(), buffers_.end(),
                                      [&](const auto& b) { return b.buffer == parameter; });
      image.arguments.push_back(found->argument);
    }
    text_.text += "\n" + printed.text;
    text_.launches.push_back(std::move(image));
    text_.needs.push_back({shape, printed.shared_bytes, unrolled_expressions(s)});
  }

  const std::string& name_;
  const ir::Stmt& body_;
  const bool waits_;
  const target::LaunchFacts& device_;
  std::vector<ir::Launch> shapes_;
  std::vector<GlobalBuffer> buffers_;  // in scope
  KernelText text_;
  std::string why_;
};

}  // namespace

Result<KernelText> print_kernel(const ir::Kernel& kernel, bool waits,
                                const target::LaunchFacts& device) {
  const ir::Stmt body = codegen::expand_tensor_calls(kernel.body);
  return KernelSplitter(kernel, body, waits, device).split();
}

}  // namespace attune::cuda
