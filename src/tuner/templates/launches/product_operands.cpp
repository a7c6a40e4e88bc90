#include "tuner/templates/launches/product_operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/templates/dataflow.h"

namespace attune::templates {
namespace {

// What a thread reads at once from shared memory, and how many such pieces its banks hold side by
// side.
constexpr std::int64_t kVectorBytes = 16, kPieces = 8;
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

  // Neighbouring threads fetch single elements, which go to different banks.
  void fetch_single() { single_ = true; }

  // A copy in shared memory. `contiguous` is the dimension whose neighbours lie side by side where
  // it is fetched from, -1: none.
  // `odd_rows`: the last dimension is as long as an odd number of vectors.
  bool stage_in_shared(int contiguous, const schedule::Names& layout, bool odd_rows,
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
    if (odd_rows && !perform(schedule::StorageAlign{copy_, 2 * vector_, vector_})) return false;
    if (single_ && !perform(schedule::StorageGap{copy_, vector_})) return false;
    const std::int64_t buffers = place_.tiling.buffers;
    if (buffers > 1 && !perform(schedule::Pipeline{copy_, buffers})) return false;
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
    const std::int64_t vector = contiguous < 0 ? 1 : vector_along(last, extents[last]);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (i == last && vector > 1) continue;
      if (!perform(schedule::Unroll{held, axes[i]})) return false;
    }
    if (vector == 1) return true;
    std::erase(axes, lanes);
    if (!perform(schedule::Split{held, lanes, {vector}})) return false;
    axes.push_back(lanes + ".0");
    axes.push_back(lanes + ".1");
    return perform(schedule::Reorder{held, axes}) &&
           perform(schedule::Unroll{held, lanes + ".0"}) &&
           perform(schedule::Vectorize{held, lanes + ".1"});
  }

  // How many of a tile's elements are read at once, of those that lie side by side.
  std::int64_t vector_of_tile() const {
    return operand_.tile < 0 ? 1
                             : vector_along(static_cast<std::size_t>(operand_.tile), of_thread_);
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

  // The longest vector that cuts both a dimension and what is read of it into whole ones.
  std::int64_t vector_along(std::size_t dimension, std::int64_t extent) const {
    std::int64_t vector = vector_;
    while (vector > 1 &&
           (extent % vector != 0 || operand_.buffer->shape[dimension] % vector != 0)) {
      vector /= 2;
    }
    return vector;
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
  // ones. Whole turns of a window are a thread's own: what differs within them are constants then.
  bool share_fetches(int contiguous) {
    const ProductTiling& t = place_.tiling;
    const std::vector<std::int64_t> extents = extents_at(of_block_, t.groups * t.slab);
    schedule::Names axes = writer_.loops(copy_, false), inner;
    std::int64_t elements = 1;
    for (const std::int64_t extent : extents) elements *= extent;
    std::int64_t vector = 1;
    std::string steps = operand_.steps < 0 ? "" : axes[static_cast<std::size_t>(operand_.steps)];
    if (contiguous >= 0) {
      const auto last = static_cast<std::size_t>(contiguous);
      const std::string lanes = axes[last];
      vector = single_ ? 1 : vector_along(last, extents[last]);
      std::erase(axes, lanes);
      axes.push_back(lanes);
      if (vector > 1) {
        if (!perform(schedule::Split{copy_, lanes, {vector}})) return false;
        axes.back() = lanes + ".0";
        inner.push_back(lanes + ".1");
      }
    }
    const std::int64_t turn = turn_of_thread(elements / vector);
    if (turn > 1) {
      if (!perform(schedule::Split{copy_, steps, {turn}})) return false;
      std::replace(axes.begin(), axes.end(), steps, steps + ".0");
      inner.insert(inner.begin(), steps + ".1");
    }
    schedule::Names order(axes);
    order.insert(order.end(), inner.begin(), inner.end());
    if (!perform(schedule::Reorder{copy_, order})) return false;
    if (turn > 1 && !perform(schedule::Unroll{copy_, steps + ".1"})) return false;
    if (vector > 1 && !perform(schedule::Vectorize{copy_, inner.back()})) return false;
    return bind_fetches(axes, elements / vector / turn);
  }

  // Steps that a thread fetches one after the other: a turn, while there is something left for most
  // threads, and while the contiguous dimension is not that of the steps.
  std::int64_t turn_of_thread(std::int64_t fetches) const {
    const ProductTiling& t = place_.tiling;
    std::int64_t found = 1;
    for (const std::int64_t turn : place_.turns) {
      const bool whole = t.groups * t.slab % turn == 0;
      if (whole && 4 * fetches / turn >= 3 * t.threads() && turn <= kMostUnrolled) found = turn;
    }
    return found;
  }

  bool bind_fetches(const schedule::Names& axes, std::int64_t fetches) {
    const ProductTiling& t = place_.tiling;
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
    const bool few = fetches <= kMostUnrolled * t.threads();
    return !few || perform(schedule::Unroll{copy_, all + ".0"});
  }

  LaunchWriter& writer_;
  const ProductOperand& operand_;
  const OperandPlace& place_;
  const std::int64_t of_block_, of_thread_;
  const std::string tensor_;
  const std::int64_t vector_;
  std::string copy_;
  bool single_ = false;
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

// A dimension of which each of `threads` has `own` elements side by side and reads `unit` of them
// at once, as it lies in shared memory: what neighbours read at the same time lies side by side, so
// that no two meet in a bank. `apart`: what is written side by side goes to different banks too,
// for which there are gaps. An odd number of pieces does both by itself.
schedule::Names spread_terms(const std::string& axis, std::int64_t own, std::int64_t threads,
                             std::int64_t unit, bool apart) {
  if (own % unit != 0) return {axis};
  const std::int64_t pieces = own / unit;
  if (pieces % 2 != 0 || threads == 1) return {axis};
  std::int64_t stride = threads;
  const std::int64_t step = std::max<std::int64_t>(1, kPieces / pieces);
  while (apart && pieces > 2 && stride / step % 2 == 0) ++stride;
  schedule::Names terms;
  if (stride > threads) terms.push_back(fmt::format("{}/{}", axis, own * stride));
  terms.push_back(unit > 1 ? fmt::format("{}/{}%{}", axis, unit, pieces)
                           : fmt::format("{}%{}", axis, pieces));
  terms.push_back(stride > threads ? fmt::format("{}/{}%{}", axis, own, stride)
                                   : fmt::format("{}/{}", axis, own));
  if (unit > 1) terms.push_back(fmt::format("{}%{}", axis, unit));
  return terms;
}

void replace_term(schedule::Names& layout, const std::string& axis, const schedule::Names& terms) {
  const auto at = std::find(layout.begin(), layout.end(), axis);
  if (at == layout.end()) return;
  layout.insert(layout.erase(at), terms.begin(), terms.end());
}

}  // namespace

bool fetch_left(LaunchWriter& writer, const ProductFacts& facts, const OperandPlace& place,
                schedule::Names& done) {
  const ProductOperand& operand = facts.left;
  OperandWriter steps(writer, operand, place, place.tiling.rows(), place.tiling.tile_m);
  const bool here = steps.is_computed_here();
  int contiguous = contiguous_dimension(writer, operand, here);
  const ProductTiling& t = place.tiling;
  if (t.stage_left || here) {
    const bool turned = t.turned && operand.tiles_k() && operand.tile >= 0;
    const bool along_sum =
        !turned && contiguous >= 0 && operand.sums[static_cast<std::size_t>(contiguous)];
    const schedule::Names names = steps.dimensions();
    schedule::Names layout = sums_first(operand, names, along_sum ? contiguous : -1);
    const bool odd_rows = along_sum && operand.tiles_k();
    if (along_sum && operand.tile >= 0) {
      const std::string& row = names[static_cast<std::size_t>(operand.tile)];
      replace_term(layout, row, spread_terms(row, t.tile_m, t.threads_m, 1, !odd_rows));
    }
    if (turned) {
      const std::string& row = names[static_cast<std::size_t>(operand.tile)];
      replace_term(layout, row,
                   spread_terms(row, t.tile_m, t.threads_m, steps.vector_of_tile(), false));
      steps.fetch_single();
    }
    if (!steps.stage_in_shared(contiguous, layout, odd_rows, done)) return false;
    if (!along_sum) contiguous = operand.tile;
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
  const std::int64_t own = t.tile_n * lanes;
  const OperandPlace plain{place.reader, place.slab_loop, place.step_loop, place.steps, t, {}};
  OperandWriter steps(writer, operand, plain, t.columns() * lanes, own);
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
    schedule::Names layout = sums_first(operand, names, columns);
    const bool odd_rows = columns >= 0 && contiguous != columns;
    if (columns >= 0 && !odd_rows) {
      const std::string& name = names[static_cast<std::size_t>(columns)];
      replace_term(layout, name,
                   spread_terms(name, own, t.threads_n, steps.vector_of_tile(), false));
    }
    if (!steps.stage_in_shared(contiguous, layout, odd_rows, done)) return false;
    contiguous = columns;
  }
  return !t.held || steps.hold(contiguous);
}

}  // namespace attune::templates
