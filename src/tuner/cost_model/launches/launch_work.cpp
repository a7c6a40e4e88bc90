#include "tuner/cost_model/launches/launch_work.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/schedule/pipelines.h"
#include "tuner/cost_model/launches/launch_levels.h"
#include "tuner/cost_model/launches/matrix_work.h"
#include "tuner/cost_model/stage_cost.h"

namespace attune::cost_model {
namespace {

using schedule::StageBounds;
using schedule::StageState;
using space::StageNest;

constexpr double kSectorBytes = 32;

// One stage of a launch.
class StageWork {
 public:
  StageWork(const schedule::State& state, const std::vector<StageBounds>& bounds,
            const std::vector<StageNest>& nests, std::size_t index,
            const target::LaunchFacts& device)
      : state_(state),
        stage_(*state.stages[index]),
        bounds_(bounds[index]),
        nest_(nests[index]),
        device_(device),
        axes_(axes_of_levels(state, index, nest_.own)),
        shared_(is_shared(stage_)) {
    count_iterations();
    find_tail();
  }

  void add_to(BlockWork& work) const {
    if (add_matrix_calls(stage_, nest_, serial_, threads_, device_, work)) return;
    const double warps = std::ceil(threads_ / static_cast<double>(device_.warp));
    double per_iteration = 0;
    for (const ir::Expr& value : stage_.stage.values) per_iteration += arithmetic(value);
    const bool reduces = stage_.stage.reduction != ir::Reduction::None;
    double steps = per_iteration + (reduces && per_iteration < 1 ? 1 : 0) - converted_again();
    double shared = 0, bytes = 0;
    bool waits = false;
    for (const schedule::Access& access : stage_.accesses) {
      const Touch touch = touch_of(access);
      steps += touch.instructions;
      shared += touch.shared_words;
      bytes += touch.bytes;
      waits |= touch.bytes > 0;
    }
    const Touch stored = store();
    // A copy that runs beside the rest is one instruction; what is too narrow for that goes through
    // registers.
    const double wide = vector_ * static_cast<double>(stage_.stage.outputs[0]->type.bytes());
    const bool ahead = shared_ && stage_.buffers > 1 && wide >= kNarrowestCopy;
    if (!ahead) steps += stored.instructions;
    shared += stored.shared_words;
    bytes += stored.bytes;
    if (shared_ && bytes > 0) steps += index_instructions() / vector_;
    if (ahead && is_bulk()) steps = 0;  // one thread asks for it
    const double all = serial_ * warps;
    work.instructions += steps * all;
    work.longest += steps * serial_;
    work.shared_cycles += shared * all;
    work.global_bytes += bytes * serial_ * threads_;
    if (shared_ && !ahead) work.awaited_bytes += bytes * serial_ * threads_;
    if (shared_) work.barriers += (ahead ? 1 : 2) * times_ / together();
    if (ahead && waits) {
      work.fetches = std::max(work.fetches, times_);
      work.ahead = std::max(work.ahead, static_cast<double>(stage_.buffers - 1));
    } else if (waits) {
      // What is read on conditions is waited for before the next condition is looked at.
      const double apart = serial_ / vector_ / kInFlight;
      const double together_waits = is_conditional() ? std::max(times_, apart) : times_;
      work.waits +=
          shared_ ? together_waits / together() : std::max(1.0, serial_ / tail_ / kInFlight);
    }
  }

 private:
  static constexpr double kInFlight = 2;  // steps of a thread whose reads are under way together
  // In which shared memory is busy with a copy of a warp, however narrow.
  static constexpr double kCopyCycles = 4;
  static double words_of(const ir::Buffer& buffer) {
    return static_cast<double>(buffer->type.bytes()) / 4;
  }
  static constexpr double kNarrowestCopy = 4;  // bytes of one that is asynchronous
  // To move an address along, to look at a condition, and to find both anew from counters.
  static constexpr double kNextAddress = 3, kCondition = 3, kNewAddress = 14;

  // What is converted as it is read is converted once for all iterations that are written out.
  double converted_again() const {
    double saved = 0;
    for (const ir::Expr& value : stage_.stage.values) {
      ir::visit(value, [&](const ir::Expr& e) {
        const auto* conversion = ir::as<ir::Cast>(e);
        const auto* load = conversion ? ir::as<ir::Load>(conversion->value) : nullptr;
        if (!load) return;
        for (const schedule::Access& access : stage_.accesses) {
          if (access.buffer != load->buffer) continue;
          saved += 1 - elements(access, first_of_tail_) / tail_;
        }
      });
    }
    return saved;
  }

  bool is_conditional() const {
    return std::any_of(stage_.stage.values.begin(), stage_.stage.values.end(),
                       [](const ir::Expr& value) { return ir::as<ir::Select>(value) != nullptr; });
  }

  // Whether the device copies it by itself.
  bool is_bulk() const { return schedule::find_note(stage_.notes, schedule::kBulkNote) != nullptr; }

  // Stages that are fetched at the same loop wait and meet once.
  double together() const {
    double count = 0;
    for (const auto& other : state_.stages) {
      count += is_shared(*other) && other->at_stage == stage_.at_stage &&
               other->at_loop == stage_.at_loop;
    }
    return std::max(1.0, count);
  }

  // Of each fetch. Places that are no linear function of the loops are found anew, unless what is
  // fetched at once is a whole number of their turns: then they are the same each time.
  double index_instructions() const {
    for (const schedule::Access& access : stage_.accesses) {
      for (const schedule::AccessDim& dim : access.dims) {
        if (!dim.linear && !repeats(dim.index)) return kNewAddress;
      }
    }
    return kNextAddress + (is_conditional() ? kCondition : 0);
  }

  // Whether the extent of every axis that the index divides is a multiple of the divisor.
  bool repeats(const ir::Expr& index) const {
    bool whole = true;
    ir::visit(index, [&](const ir::Expr& e) {
      const auto* division = ir::as<ir::Binary>(e);
      if (!division || (division->op != ir::BinOp::Div && division->op != ir::BinOp::Mod)) return;
      const auto* divisor = ir::as_int(division->rhs);
      if (!divisor) return;
      for (std::size_t a = 0; a < stage_.stage.axes.size(); ++a) {
        // An axis that its host does not step along stays where it is.
        const std::int64_t extent = bounds_.axes[a];
        const bool steps = steps_along(a) && ir::uses_var(e, stage_.stage.axes[a].name);
        whole &= !steps || extent % *divisor == 0;
      }
    });
    return whole;
  }

  // Whether where an axis begins moves with serial loops around the stage.
  bool steps_along(std::size_t axis) const {
    for (std::size_t i = 0; i < nest_.own; ++i) {
      if (!axes_[i].empty() || nest_.levels[i].extent == 1) continue;
      const auto& outer = nest_.levels[i].spans;
      const auto& inner = i + 1 < nest_.levels.size() ? nest_.levels[i + 1].spans : outer;
      if (outer[axis] != inner[axis]) return true;
    }
    return false;
  }

  // What an iteration does for one access, on average.
  struct Touch {
    double instructions = 0, shared_words = 0, bytes = 0;
  };

  // How often a thread computes an element, how many threads do, and how often a block begins.
  void count_iterations() {
    for (std::size_t i = 0; i < nest_.levels.size(); ++i) {
      const auto extent = static_cast<double>(nest_.levels[i].extent);
      const bool own = i >= nest_.own;
      if (axes_[i].starts_with("block.")) continue;
      if (axes_[i].starts_with("thread.")) {
        // What is shared is computed once by all threads together.
        if (own || !shared_) threads_ *= extent;
        continue;
      }
      serial_ *= extent;
      if (!own) times_ *= extent;
    }
    serial_ *= nest_.useful;
  }

  // The innermost loops that are written out: what they read again is still in registers.
  void find_tail() {
    first_of_tail_ = nest_.levels.size();
    while (first_of_tail_ > nest_.own) {
      const space::Level& level = nest_.levels[first_of_tail_ - 1];
      const bool written_out = level.kind == ir::LoopKind::Unrolled ||
                               level.kind == ir::LoopKind::Vectorized || level.extent == 1;
      if (!written_out || !axes_[first_of_tail_ - 1].empty()) break;
      tail_ *= static_cast<double>(level.extent);
      if (level.kind == ir::LoopKind::Vectorized) vector_ = static_cast<double>(level.extent);
      --first_of_tail_;
    }
  }

  double elements(const schedule::Access& access, std::size_t level) const {
    if (level >= nest_.levels.size()) return 1;
    double count = 1;
    for (std::size_t d = 0; d < access.dims.size(); ++d) {
      count *= static_cast<double>(
          space::dim_span(access.dims[d], nest_.levels[level].spans, access.buffer->shape[d]));
    }
    return count;
  }

  // The part of a warp's lanes that read places of their own: an axis that the access does not move
  // with makes its threads read the same.
  double distinct(const schedule::Access& access) const {
    double lanes = 1, own = 1;
    for (const char* axis : {"thread.x", "thread.y", "thread.z"}) {
      for (std::size_t i = 0; i < axes_.size(); ++i) {
        if (axes_[i] != axis) continue;
        const auto extent = std::min(static_cast<double>(nest_.levels[i].extent),
                                     static_cast<double>(device_.warp) / lanes);
        if (extent <= 1) continue;
        lanes *= extent;
        const bool moves = shared_ || elements(access, i) > elements(access, i + 1);
        if (moves) own *= extent;
      }
    }
    return own / lanes;
  }

  const StageState* producer(const ir::Buffer& buffer) const {
    const int index = state_.producer_of(buffer);
    return index < 0 ? nullptr : state_.stages[static_cast<std::size_t>(index)].get();
  }

  // The axis along which neighbouring threads work, and how far apart.
  struct Neighbours {
    std::size_t axis = 0;
    double step = 1;
    bool known = false;
  };
  Neighbours neighbours() const {
    for (const int loop : stage_.loops) {
      if (stage_.iters[static_cast<std::size_t>(loop)].axis != "thread.x") continue;
      const std::size_t axes = stage_.stage.axes.size();
      for (std::size_t a = 0; a < axes; ++a) {
        const auto step = schedule::stride_of(stage_, bounds_.iters, loop, static_cast<int>(a));
        if (step > 0) return {a, static_cast<double>(step), true};
      }
      return fused_neighbours();
    }
    return {};
  }

  // Of a loop that was fused, the last part moves with threads.
  Neighbours fused_neighbours() const {
    for (auto relation = stage_.relations.rbegin(); relation != stage_.relations.rend();
         ++relation) {
      const auto* fuse = std::get_if<schedule::FuseRelation>(&*relation);
      if (!fuse) continue;
      int part = fuse->parents.back();
      double step = 1;
      for (const schedule::Relation& other : stage_.relations) {
        const auto* split = std::get_if<schedule::SplitRelation>(&other);
        if (!split || split->children[0] != part) continue;
        for (const std::int64_t factor : split->factors) step *= static_cast<double>(factor);
        part = split->parent;
      }
      if (part < static_cast<int>(stage_.stage.axes.size())) {
        return {static_cast<std::size_t>(part), step, true};
      }
    }
    return {};
  }

  // Bytes that sectors bring for each byte that is asked for.
  double waste(const ir::Buffer& buffer, std::int64_t stride, const Neighbours& near) const {
    if (!near.known || stride == 0) return 1;
    const double bytes = static_cast<double>(buffer->type.bytes());
    const double most = std::max(1.0, kSectorBytes / (bytes * vector_));
    if (stride < 0) return most;
    const double apart = static_cast<double>(stride) * near.step / vector_;
    return std::clamp(apart, 1.0, most);
  }

  Touch touch_of(const schedule::Access& access) const {
    const StageState* made_by = producer(access.buffer);
    const bool by_thread = made_by && !made_by->at_root() && !is_shared(*made_by);
    if (by_thread) return {};
    const double reads = elements(access, first_of_tail_) / tail_;
    const double part = distinct(access);
    const double instructions = reads / vector_;
    if (made_by && is_shared(*made_by)) {
      // Half a warp's vectors at a time, at most, however many of them are the same.
      const double words = vector_ * words_of(access.buffer);
      return {instructions, instructions * std::max({1.0, words / 2, words * part}), 0};
    }
    const auto bytes = static_cast<double>(access.buffer->type.bytes());
    const Neighbours near = neighbours();
    std::int64_t stride = 1;
    if (near.known) {
      static const std::vector<schedule::LayoutTerm> kRowMajor;
      stride = space::memory_stride(stage_.stage, access, made_by ? made_by->layout : kRowMajor,
                                    near.axis, 1);
    }
    return {instructions, 0, reads * bytes * part * waste(access.buffer, stride, near)};
  }

  // Of what the stage computes; once all is summed up where it reduces.
  Touch store() const {
    double sums = 1;
    for (std::size_t a = 0; a < stage_.stage.reduce_axes.size(); ++a) {
      sums *= static_cast<double>(bounds_.axes[stage_.stage.axes.size() + a]);
    }
    const double stores = 1 / sums, instructions = stores / vector_;
    if (shared_) {
      const double words = words_of(stage_.stage.outputs[0]) * vector_;
      return {instructions, instructions * std::max(words, stage_.buffers > 1 ? kCopyCycles : 1),
              0};
    }
    if (!stage_.at_root()) return {};
    const Neighbours near = neighbours();
    double stride = 1;
    if (near.known && stage_.layout.empty()) {
      for (std::size_t a = near.axis + 1; a < stage_.stage.axes.size(); ++a) {
        stride *= static_cast<double>(stage_.stage.axes[a].extent);
      }
    }
    const ir::Buffer& buffer = stage_.stage.outputs[0];
    const double ratio = waste(buffer, static_cast<std::int64_t>(stride), near);
    return {instructions, 0, stores * static_cast<double>(buffer->type.bytes()) * ratio};
  }

  const schedule::State& state_;
  const StageState& stage_;
  const StageBounds& bounds_;
  const StageNest& nest_;
  const target::LaunchFacts& device_;
  const std::vector<std::string> axes_;
  const bool shared_;
  double serial_ = 1, threads_ = 1, times_ = 1;
  std::size_t first_of_tail_ = 0;
  double tail_ = 1, vector_ = 1;
};

// Of the tensors in global memory that a stage reads or writes, in however many places.
double global_bytes(const schedule::State& state, std::size_t index) {
  const StageState& stage = *state.stages[index];
  double bytes = 0;
  std::set<ir::Buffer> counted;
  const auto add = [&](const ir::Buffer& buffer) {
    if (!counted.insert(buffer).second) return;
    double all = static_cast<double>(buffer->type.bytes());
    for (const std::int64_t extent : buffer->shape) all *= static_cast<double>(extent);
    bytes += all;
  };
  for (const schedule::Access& access : stage.accesses) {
    const int producer = state.producer_of(access.buffer);
    if (producer < 0 || state.stages[static_cast<std::size_t>(producer)]->at_root()) {
      add(access.buffer);
    }
  }
  if (stage.at_root()) add(stage.stage.outputs[0]);
  return bytes;
}

}  // namespace

std::vector<LaunchWork> launch_works(const schedule::State& state,
                                     const std::vector<StageBounds>& bounds,
                                     const target::LaunchFacts& device) {
  const std::vector<StageNest> nests = space::loop_nests(state, bounds);
  std::vector<LaunchWork> works;
  std::vector<std::size_t> place(state.stages.size());
  for (space::LaunchShape& shape : space::launch_shapes(state, bounds)) {
    place[shape.root] = works.size();
    works.push_back({shape, {}, 0, nests[shape.root].ahead});
  }
  for (std::size_t i = 0; i < state.stages.size(); ++i) {
    LaunchWork& work = works[place[nests[i].root]];
    if (work.ahead) continue;
    StageWork(state, bounds, nests, i, device).add_to(work.block);
    work.tensor_bytes += global_bytes(state, i);
  }
  return works;
}

}  // namespace attune::cost_model
