#include "compiler/codegen/storage.h"

#include <utility>

#include "compiler/codegen/index_facts.h"
#include "compiler/codegen/walk.h"
#include "compiler/ir/nodes/intrinsics.h"

namespace attune::codegen {
namespace {

constexpr std::int64_t kAlignment = 64;
// A private array larger than this goes to the workspace instead of the stack.
constexpr std::int64_t kStackLimit = 64 << 10;

std::int64_t round_up(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::int64_t bytes_of(const ir::BufferNode& buffer) {
  return round_up(ir::element_count(buffer) * buffer.type.bytes());
}

bool in_workspace(const ir::BufferNode& buffer) {
  if (buffer.scope == ir::Scope::Global) return true;
  return bytes_of(buffer) > kStackLimit;
}

class Planner {
 public:
  explicit Planner(int threads) : threads_(threads) {}

  void visit(const ir::Stmt& s, bool parallel) {
    const auto* allocation = ir::as<ir::Allocate>(s);
    if (allocation) declare(allocation->buffer, parallel);
    if (const auto* st = ir::as<ir::Store>(s)) access(st->buffer, st->index[0], parallel);
    const auto* loop = ir::as<ir::For>(s);
    const bool inside = parallel || (loop && loop->kind == ir::LoopKind::Parallel);
    for_each_child(
        s, [&](const ir::Stmt& child) { visit(child, inside); },
        [&](const ir::Expr& e) {
          walk(e, [&](const ir::Expr& node) {
            if (const auto* l = ir::as<ir::Load>(node)) access(l->buffer, l->index[0], parallel);
          });
        });
    if (allocation) close(*allocation->buffer);
  }

  StoragePlan finish(const ir::Kernel& kernel) {
    plan_.in_memory = kernel.params;
    for (const auto& [buffer, parallel] : allocations_) {
      if (in_workspace(*buffer)) place(*buffer, parallel);
      if (buffer->scope == ir::Scope::Register && !in_workspace(*buffer) &&
          !inseparable_.contains(buffer.get())) {
        plan_.as_values.insert(buffer.get());
      } else {
        plan_.in_memory.push_back(buffer);
      }
    }
    return std::move(plan_);
  }

 private:
  // Of one allocation; what lies in another is something else, though the buffer be the same.
  struct Accesses {
    std::map<std::int64_t, int> places;  // first element -> lanes
    bool separable = true;
  };

  void declare(const ir::Buffer& buffer, bool parallel) {
    accesses_[buffer.get()] = {};
    for (auto& [known, inside] : allocations_) {
      if (known == buffer) {
        inside |= parallel;
        return;
      }
    }
    allocations_.emplace_back(buffer, parallel);
    allocated_parallel_[buffer.get()] = parallel;
  }

  void place(const ir::BufferNode& buffer, bool parallel) {
    const std::int64_t slice = bytes_of(buffer);
    plan_.workspace[&buffer] = {plan_.workspace_bytes, slice, parallel};
    plan_.workspace_bytes += slice * (parallel ? threads_ : 1);
  }

  void access(const ir::Buffer& buffer, const ir::Expr& index, bool parallel) {
    if (buffer->scope != ir::Scope::Register) return;
    Accesses& known = accesses_[buffer.get()];
    const auto place = constant_place(index);
    // A value cannot cross into the function of a parallel loop.
    if (!place || parallel != allocated_parallel_[buffer.get()]) {
      known.separable = false;
      return;
    }
    const int lanes = index.type().lanes;
    const auto [at, inserted] = known.places.emplace(*place, lanes);
    if (!inserted) known.separable &= at->second == lanes;
  }

  void close(const ir::BufferNode& buffer) {
    const Accesses& known = accesses_[&buffer];
    bool separable = known.separable;
    std::int64_t end = 0;
    for (const auto& [first, lanes] : known.places) {
      separable &= first >= end;
      end = first + lanes;
    }
    if (!separable) inseparable_[&buffer] = true;
  }

  int threads_;
  StoragePlan plan_;
  std::vector<std::pair<ir::Buffer, bool>> allocations_;
  BufferMap<bool> allocated_parallel_;
  BufferMap<Accesses> accesses_;
  BufferMap<bool> inseparable_;
};

}  // namespace

std::optional<std::int64_t> constant_place(const ir::Expr& index) {
  if (const auto* value = ir::as_int(index)) return *value;
  const auto strided = as_strided(index);
  if (!strided || !ir::is_const_int(strided->stride, 1)) return std::nullopt;
  const auto* value = ir::as_int(strided->base);
  return value ? std::optional(*value) : std::nullopt;
}

StoragePlan plan_storage(const ir::Kernel& kernel, int threads) {
  Planner planner(threads);
  planner.visit(kernel.body, false);
  return planner.finish(kernel);
}

bool uses_worker_slices(const ir::For& loop, const StoragePlan& plan) {
  bool uses = false;
  walk(
      loop.body,
      [&](const ir::Stmt& s) {
        const auto* a = ir::as<ir::Allocate>(s);
        const auto found = a ? plan.workspace.find(a->buffer.get()) : plan.workspace.end();
        uses |= found != plan.workspace.end() && found->second.per_worker;
      },
      [&](const ir::Expr& e) {
        const auto* o = ir::as<ir::Opaque>(e);
        uses |= o && o->name == ir::kWorker;
      });
  return uses;
}

}  // namespace attune::codegen
