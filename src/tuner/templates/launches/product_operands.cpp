#include "tuner/templates/launches/product_operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/templates/dataflow.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kVectorBytes = 16, kBanks = 32;
constexpr std::int64_t kRowOffset = 4;      // by which rows are kept out of each other's banks
constexpr std::int64_t kMostUnrolled = 16;  // fetches of a thread that are written out

class OperandWriter {
 public:
  // Of the operand's own tiles, a block has `of_block` elements and a thread `of_thread`.
  OperandWriter(LaunchWriter& writer, const ProductOperand& operand, const OperandPlace& place,
                std::int64_t of_block, std::int64_t of_thread)
      : writer_(writer),
        operand_(operand),
        place_(place),
        of_block_(of_block),
        of_thread_(of_thread),
        tensor_(operand.buffer->name),
        vector_(kVectorBytes / std::max<std::int64_t>(1, operand.buffer->type.bytes())) {}

  // A copy in shared memory. `contiguous` is the dimension whose neighbours lie side by side where
  // it is fetched from, -1: none.
  bool stage_in_shared(int contiguous, const schedule::Names& layout, std::int64_t row_offset,
                       schedule::Names& done) {
    if (is_computed_here()) {
      copy_ = tensor_;
      done.push_back(copy_);
    } else {
      copy_ = "cache." + tensor_;
      if (!perform(schedule::CacheRead{tensor_, place_.reader})) return false;
    }
    if (!perform(schedule::ComputeAt{copy_, place_.reader, place_.slab_loop}) ||
        !perform(schedule::SetScope{copy_, "shared"})) {
      return false;
    }
    if (!layout.empty() && !perform(schedule::Layout{copy_, layout})) return false;
    if (row_offset > 0 && !perform(schedule::StorageAlign{copy_, kBanks, row_offset})) {
      return false;
    }
    return share_fetches(contiguous);
  }

  // From there, or from global memory, into registers of a thread.
  bool hold(int contiguous) {
    const std::string from = copy_.empty() ? tensor_ : copy_;
    const std::string held = "cache." + from;
    if (!perform(schedule::CacheRead{from, place_.reader}) ||
        !perform(schedule::ComputeAt{held, place_.reader, place_.step_loop}) ||
        !perform(schedule::SetScope{held, "register"})) {
      return false;
    }
    const std::vector<std::int64_t> extents = extents_at(of_thread_, place_.steps);
    schedule::Names axes = writer_.loops(held, false);
    const auto last = static_cast<std::size_t>(std::max(contiguous, 0));
    const std::string lanes = axes[last];
    const bool vectors = contiguous >= 0 && vector_ > 1 && extents[last] % vector_ == 0 &&
                         operand_.buffer->shape[last] % vector_ == 0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (i == last && vectors) continue;
      if (!perform(schedule::Unroll{held, axes[i]})) return false;
    }
    if (!vectors) return true;
    std::erase(axes, lanes);
    if (!perform(schedule::Split{held, lanes, {vector_}})) return false;
    axes.push_back(lanes + ".0");
    axes.push_back(lanes + ".1");
    return perform(schedule::Reorder{held, axes}) &&
           perform(schedule::Unroll{held, lanes + ".0"}) &&
           perform(schedule::Vectorize{held, lanes + ".1"});
  }

  // The names of the operand's dimensions.
  schedule::Names dimensions() const {
    schedule::Names names;
    const int producer = writer_.state().producer_of(operand_.buffer);
    for (std::size_t d = 0; d < operand_.buffer->shape.size(); ++d) {
      names.push_back(producer < 0 ? fmt::format("i{}", d)
                                   : writer_.stage(tensor_).stage.axes[d].name);
    }
    return names;
  }

  // Whether the tensor is a stage that nobody else reads and that does not reduce.
  bool is_computed_here() const {
    const int producer = writer_.state().producer_of(operand_.buffer);
    if (producer < 0 || writer_.state().is_output(producer)) return false;
    const schedule::StageState& stage = *writer_.state().stages[static_cast<std::size_t>(producer)];
    return stage.stage.reduction == ir::Reduction::None && !reads_constants_alone(stage) &&
           writer_.state().consumers_of(producer).size() == 1;
  }

  bool is_prepared() const {
    const int producer = writer_.state().producer_of(operand_.buffer);
    return producer >= 0 && !writer_.state().is_output(producer) &&
           reads_constants_alone(*writer_.state().stages[static_cast<std::size_t>(producer)]);
  }

 private:
  bool perform(const schedule::Step& step) { return writer_.perform(step); }

  bool reads_constants_alone(const schedule::StageState& stage) const {
    const schedule::State& state = writer_.state();
    return std::all_of(
        stage.accesses.begin(), stage.accesses.end(), [&](const schedule::Access& access) {
          const int producer = state.producer_of(access.buffer);
          if (producer >= 0) {
            return reads_constants_alone(*state.stages[static_cast<std::size_t>(producer)]);
          }
          return std::any_of(state.inputs.begin(), state.inputs.end(), [&](const ir::Input& each) {
            return each.buffer == access.buffer && each.constant;
          });
        });
  }

  // How much of each dimension is there at once: so much of its own tiles, and so many steps.
  std::vector<std::int64_t> extents_at(std::int64_t own, std::int64_t steps) const {
    std::vector<std::int64_t> extents;
    const auto& shape = operand_.buffer->shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const int at = static_cast<int>(d);
      std::int64_t extent = operand_.sums[d] ? shape[d] : 1;
      if (at == operand_.tile) extent = own;
      if (at == operand_.steps) extent = steps;
      extents.push_back(std::min(extent, shape[d]));
    }
    return extents;
  }

  // Neighbouring threads fetch what lies side by side, in vectors where a row is cut into whole
  // ones.
  bool share_fetches(int contiguous) {
    const ProductTiling& t = place_.tiling;
    const std::vector<std::int64_t> extents = extents_at(of_block_, t.groups * t.slab);
    schedule::Names axes = writer_.loops(copy_, false);
    std::int64_t elements = 1;
    for (const std::int64_t extent : extents) elements *= extent;
    bool vectors = false;
    if (contiguous >= 0) {
      const auto last = static_cast<std::size_t>(contiguous);
      const std::string lanes = axes[last];
      vectors = vector_ > 1 && extents[last] % vector_ == 0 &&
                operand_.buffer->shape[last] % vector_ == 0;
      std::erase(axes, lanes);
      axes.push_back(lanes);
      if (!perform(schedule::Reorder{copy_, axes})) return false;
      if (vectors) {
        if (!perform(schedule::Split{copy_, lanes, {vector_}}) ||
            !perform(schedule::Vectorize{copy_, lanes + ".1"})) {
          return false;
        }
        axes.back() = lanes + ".0";
        elements /= vector_;
      }
    }
    const std::string all = writer_.fused(copy_, axes);
    schedule::Numbers threads{t.threads_m, t.threads_n};
    schedule::Names bound{"thread.y", "thread.x"};
    if (t.groups > 1) {
      threads.insert(threads.begin(), t.groups);
      bound.insert(bound.begin(), "thread.z");
    }
    if (!perform(schedule::Split{copy_, all, threads})) return false;
    for (std::size_t i = 0; i < bound.size(); ++i) {
      if (!perform(schedule::Bind{copy_, fmt::format("{}.{}", all, i + 1), bound[i]})) return false;
    }
    const bool few = elements <= kMostUnrolled * t.threads();
    return !few || perform(schedule::Unroll{copy_, all + ".0"});
  }

  LaunchWriter& writer_;
  const ProductOperand& operand_;
  const OperandPlace& place_;
  const std::int64_t of_block_, of_thread_;
  const std::string tensor_;
  const std::int64_t vector_;
  std::string copy_;
};

// The dimension whose neighbours lie side by side in memory: of a stage that is computed on the
// way, the one along which it reads so.
int contiguous_dimension(const LaunchWriter& writer, const ProductOperand& operand,
                         bool computed_here) {
  const int last = static_cast<int>(operand.buffer->shape.size()) - 1;
  if (!computed_here) return last;
  const ir::Stage& stage = writer.stage(operand.buffer->name).stage;
  for (int d = last; d >= 0; --d) {
    const auto& axis = stage.axes[static_cast<std::size_t>(d)];
    const Strides strides = strides_of(stage, axis.name);
    if (axis.extent > 1 && strides.contiguous > 0 && strides.scattered == 0) return d;
  }
  return -1;
}

// Dimensions in which the operand is summed over come first, `last` of all comes last.
schedule::Names sums_first(const ProductOperand& operand, const schedule::Names& names, int last) {
  schedule::Names first, then;
  for (std::size_t d = 0; d < names.size(); ++d) {
    if (static_cast<int>(d) != last) (operand.own[d] ? then : first).push_back(names[d]);
  }
  first.insert(first.end(), then.begin(), then.end());
  if (last >= 0) first.push_back(names[static_cast<std::size_t>(last)]);
  return first;
}

}  // namespace

bool fetch_left(LaunchWriter& writer, const ProductFacts& facts, const OperandPlace& place,
                schedule::Names& done) {
  const ProductOperand& operand = facts.left;
  OperandWriter steps(writer, operand, place, place.tiling.rows(), place.tiling.tile_m);
  const bool here = steps.is_computed_here();
  const int contiguous = contiguous_dimension(writer, operand, here);
  const ProductTiling& t = place.tiling;
  if (t.stage_left || here) {
    // Rows of a thread's tile lie apart, the same row of its neighbours side by side: no two
    // threads that read at once meet in a bank.
    const bool along_sum = contiguous >= 0 && operand.sums[static_cast<std::size_t>(contiguous)];
    schedule::Names names = steps.dimensions();
    schedule::Names layout = sums_first(operand, names, along_sum ? contiguous : -1);
    for (std::size_t i = 0; i < layout.size() && along_sum; ++i) {
      const auto d = static_cast<std::size_t>(std::find(names.begin(), names.end(), layout[i]) -
                                              names.begin());
      if (static_cast<int>(d) != operand.tile || t.tile_m == 1) continue;
      const std::string row = layout[i];
      layout[i] = fmt::format("{}%{}", row, t.tile_m);
      layout.insert(layout.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                    fmt::format("{}/{}", row, t.tile_m));
      break;
    }
    const std::int64_t row_offset = along_sum && operand.tiles_k() ? kRowOffset : 0;
    if (!steps.stage_in_shared(contiguous, layout, row_offset, done)) return false;
  }
  return !t.held || steps.hold(contiguous);
}

bool fetch_right(LaunchWriter& writer, const ProductFacts& facts, const OperandPlace& place,
                 schedule::Names& done) {
  const ProductOperand& operand = facts.right;
  const ProductTiling& t = place.tiling;
  const int columns = operand.tile;  // the dimension along which threads of a block have tiles
  // Lanes that are no dimension of their own are part of it.
  const auto whole = columns < 0 ? 0 : operand.buffer->shape[static_cast<std::size_t>(columns)];
  const std::int64_t lanes = whole == facts.n * facts.n_lanes ? facts.n_lanes : 1;
  OperandWriter steps(writer, operand, place, t.columns() * lanes, t.tile_n * lanes);
  const bool here = steps.is_computed_here();
  const schedule::Names names = steps.dimensions();
  int contiguous = contiguous_dimension(writer, operand, here);
  if (steps.is_prepared() && columns >= 0) {
    const std::string& name = names[static_cast<std::size_t>(columns)];
    const std::int64_t block = t.columns() * lanes;
    schedule::Names packed = sums_first(operand, names, columns);
    packed.back() = fmt::format("{}%{}", name, block);
    packed.insert(packed.begin(), fmt::format("{}/{}", name, block));
    if (!writer.perform(schedule::Layout{operand.buffer->name, packed})) return false;
    contiguous = columns;
  }
  if (t.stage_right || here) {
    const schedule::Names layout = sums_first(operand, names, columns);
    const std::int64_t row_offset = columns >= 0 && contiguous != columns ? kRowOffset : 0;
    if (!steps.stage_in_shared(contiguous, layout, row_offset, done)) return false;
    contiguous = columns;
  }
  return !t.held || steps.hold(contiguous);
}

}  // namespace attune::templates
