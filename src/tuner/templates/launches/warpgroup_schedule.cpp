#include "tuner/templates/launches/warpgroup_schedule.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::templates {
namespace {

constexpr std::int64_t kVectorBytes = 16;
constexpr std::int64_t kGroupRows = 8;      // that lie together, 16 bytes of each
constexpr std::int64_t kMostUnrolled = 16;  // copies of a thread that are written out

class WarpgroupWriter {
 public:
  WarpgroupWriter(LaunchWriter& writer, const ProductFacts& facts, const WarpgroupTiling& tiling)
      : writer_(writer), facts_(facts), t_(tiling), sum_(facts.stage) {}

  bool write(const std::string& host, std::vector<schedule::Names> read_at, schedule::Names& done) {
    host_ = host;
    read_at_ = std::move(read_at);
    if (host_.empty() && !store_by_itself()) return false;
    const std::string last = host_;
    if (!cut_host() || !place_sum()) return false;
    if (!fetch_left() || !fetch_right()) return false;
    if (!perform(schedule::Tensorize{sum_, rows_loop_, t_.intrinsic})) return false;
    done.push_back(last);
    done.push_back(facts_.stage);
    return true;
  }

 private:
  bool perform(const schedule::Step& step) { return writer_.perform(step); }

  bool store_by_itself() {
    if (!perform(schedule::CacheWrite{sum_})) return false;
    host_ = sum_;
    sum_ = "cache." + sum_;
    read_at_.clear();
    for (const ir::Axis& axis : writer_.stage(host_).stage.axes) read_at_.push_back({axis.name});
    return true;
  }

  std::size_t position_of(const std::string& axis) const {
    const std::vector<ir::Axis>& axes = writer_.stage(sum_).stage.axes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].name == axis) return i;
    }
    return 0;
  }

  // Blocks, warpgroups, lanes and what each of these holds, as loops of the host.
  bool cut_host() {
    const std::size_t m = position_of(facts_.m_tile), n = position_of(facts_.n_tile);
    if (read_at_[m].empty() || read_at_[n].empty()) return false;
    schedule::Names rest = writer_.loops(host_, false);
    for (const std::size_t each : {m, n}) {
      for (const std::string& name : read_at_[each]) std::erase(rest, name);
    }
    schedule::Names order = rest;
    for (const std::size_t each : {m, n}) {
      order.insert(order.end(), read_at_[each].begin(), read_at_[each].end());
    }
    if (!perform(schedule::Reorder{host_, order})) return false;
    const std::string i = writer_.fused(host_, read_at_[m]);
    const std::string j = writer_.fused(host_, read_at_[n]);
    return cut_tiles(rest, i, j);
  }

  bool cut_tiles(const schedule::Names& rest, const std::string& i, const std::string& j) {
    const std::int64_t vector =
        kVectorBytes /
        std::max<std::int64_t>(1, writer_.stage(host_).stage.outputs[0]->type.bytes());
    if (!perform(schedule::Split{host_, i, {t_.rows()}}) ||
        !perform(schedule::Split{host_, j, {t_.block_columns()}}) ||
        !perform(schedule::Split{host_, i + ".1", {32, 2 * t_.tiles_m}}) ||
        !perform(schedule::Split{host_, j + ".1", {4, t_.columns / 4 / vector, vector}})) {
      return false;
    }
    schedule::Names order(rest);
    order.insert(order.end(), {i + ".0", j + ".0", i + ".1.0", j + ".1.0", i + ".1.1", j + ".1.1",
                               i + ".1.2", j + ".1.2", j + ".1.3"});
    if (!perform(schedule::Reorder{host_, order})) return false;
    lane_loop_ = writer_.fused(host_, {i + ".1.1", j + ".1.1"});
    if (!rest.empty() && !perform(schedule::Bind{host_, writer_.fused(host_, rest), "block.z"})) {
      return false;
    }
    return perform(schedule::Bind{host_, i + ".0", "block.y"}) &&
           perform(schedule::Bind{host_, j + ".0", "block.x"}) &&
           perform(schedule::Bind{host_, i + ".1.0", "thread.z"}) &&
           perform(schedule::Bind{host_, j + ".1.0", "thread.y"}) &&
           perform(schedule::Bind{host_, lane_loop_, "thread.x"}) &&
           perform(schedule::Unroll{host_, i + ".1.2"}) &&
           perform(schedule::Unroll{host_, j + ".1.2"}) &&
           perform(schedule::Vectorize{host_, j + ".1.3"});
  }

  // Slabs outermost, then the instructions of each.
  bool place_sum() {
    const std::string &i = facts_.m_tile, &j = facts_.n_tile, &k = facts_.k_tile;
    if (!perform(schedule::ComputeAt{sum_, host_, lane_loop_}) ||
        !perform(schedule::SetScope{sum_, "register"}) ||
        !perform(schedule::Split{sum_, k, {t_.steps, t_.terms}}) ||
        !perform(schedule::Split{sum_, i, {2}})) {
      return false;
    }
    schedule::Names order{k + ".0", k + ".1", i + ".0"}, rest = writer_.loops(sum_, false);
    std::erase(rest, i + ".0");
    std::erase(rest, i + ".1");
    std::erase(rest, j);
    order.insert(order.end(), rest.begin(), rest.end());
    order.insert(order.end(), {i + ".1", j, k + ".2"});
    slab_loop_ = k + ".0", rows_loop_ = i + ".1";
    return perform(schedule::Reorder{sum_, order}) && perform(schedule::Unroll{sum_, k + ".1"}) &&
           perform(schedule::Unroll{sum_, i + ".0"});
  }

  // The copy of an operand in shared memory, and its axes by dimension of the operand.
  bool copy_operand(const ProductOperand& operand, std::string& copy, schedule::Names& axes) {
    const std::string& tensor = operand.buffer->name;
    copy = "cache." + tensor;
    // What is rounded is rounded on the way.
    const bool rounded = operand.buffer->type == ir::kF32;
    if (!(rounded ? perform(schedule::CacheValue{tensor, sum_})
                  : perform(schedule::CacheRead{tensor, sum_})) ||
        !perform(schedule::ComputeAt{copy, sum_, slab_loop_}) ||
        !perform(schedule::SetScope{copy, "shared"})) {
      return false;
    }
    axes = writer_.loops(copy, false);
    return true;
  }

  // Copies of 16 bytes each, the loops in front of `vector` shared out among all threads.
  bool share_copies(const std::string& copy, const schedule::Names& order,
                    const std::string& vector, std::int64_t elements) {
    schedule::Names all(order);
    all.push_back(vector);
    if (!perform(schedule::Reorder{copy, all}) || !perform(schedule::Vectorize{copy, vector})) {
      return false;
    }
    const std::string pieces = writer_.fused(copy, order);
    if (!perform(schedule::Split{copy, pieces, {t_.groups_m, t_.groups_n, 128}}) ||
        !perform(schedule::Bind{copy, pieces + ".1", "thread.z"}) ||
        !perform(schedule::Bind{copy, pieces + ".2", "thread.y"}) ||
        !perform(schedule::Bind{copy, pieces + ".3", "thread.x"})) {
      return false;
    }
    if (elements / vector_ <= kMostUnrolled * t_.threads() &&
        !perform(schedule::Unroll{copy, pieces + ".0"})) {
      return false;
    }
    return perform(schedule::Pipeline{copy, t_.buffers});
  }

  // Rows of a lane, two for each tile, lie in groups of their own. Neighbouring threads copy what
  // lies side by side in a row, to places that a gap keeps in banks of their own.
  bool fetch_left() {
    const ProductOperand& operand = facts_.left;
    std::string copy;
    schedule::Names axes;
    if (!copy_operand(operand, copy, axes)) return false;
    const std::string i = axes[static_cast<std::size_t>(operand.tile)];
    const std::string k = axes[static_cast<std::size_t>(operand.steps)];
    schedule::Names layout = others(axes, operand);
    const std::int64_t tiles = t_.tiles_m;
    layout.push_back(fmt::format("{}/{}", k, vector_));
    if (tiles > 1) layout.push_back(fmt::format("{}/2%{}", i, tiles));
    layout.insert(layout.end(), {fmt::format("{}/{}", i, 16 * tiles), fmt::format("{}%2", i),
                                 fmt::format("{}/{}%{}", i, 2 * tiles, kGroupRows),
                                 fmt::format("{}%{}", k, vector_)});
    if (!perform(schedule::Layout{copy, layout}) || !perform(schedule::StorageGap{copy, vector_}) ||
        !perform(schedule::Split{copy, k, {vector_}})) {
      return false;
    }
    schedule::Names order = others(axes, operand);
    order.insert(order.end(), {i, k + ".0"});
    return share_copies(copy, order, k + ".1", t_.rows() * t_.slab());
  }

  // Weights are packed ahead of time in slabs as they lie in shared memory; others must have their
  // terms side by side.
  bool fetch_right() {
    const ProductOperand& operand = facts_.right;
    const std::string& tensor = operand.buffer->name;
    const int producer = writer_.state().producer_of(operand.buffer);
    if (producer >= 0) {
      schedule::Names names;
      for (const ir::Axis& axis : writer_.stage(tensor).stage.axes) names.push_back(axis.name);
      if (!perform(schedule::Layout{tensor, packed(names, operand)})) return false;
    } else if (!operand.tiles_k()) {
      return false;
    }
    std::string copy;
    schedule::Names axes;
    if (!copy_operand(operand, copy, axes)) return false;
    const std::string j = axes[static_cast<std::size_t>(operand.tile)];
    const std::string k = axes[static_cast<std::size_t>(operand.steps)];
    schedule::Names layout = others(axes, operand);
    layout.push_back(fmt::format("{}/{}", k, vector_));
    add_columns(layout, j, fmt::format("{}/{}", j, t_.columns));
    layout.push_back(fmt::format("{}%{}", k, vector_));
    if (!perform(schedule::Layout{copy, layout}) ||
        !perform(schedule::Split{copy, j, {4, t_.columns / 8, 2}}) ||
        !perform(schedule::Split{copy, k, {vector_}})) {
      return false;
    }
    schedule::Names order = others(axes, operand);
    order.insert(order.end(), {k + ".0", j + ".0", j + ".2", j + ".1", j + ".3"});
    if (producer >= 0 && t_.bulk > 0 &&
        !perform(schedule::Annotate{copy, "*", "bulk", std::to_string(t_.bulk)})) {
      return false;
    }
    return share_copies(copy, order, k + ".1", t_.block_columns() * t_.slab());
  }

  // Columns of a warpgroup in groups of eight: two of each of its four steps.
  void add_columns(schedule::Names& layout, const std::string& j,
                   const std::string& warpgroup) const {
    layout.insert(layout.end(),
                  {warpgroup, fmt::format("{}/2%{}", j, t_.columns / 8),
                   fmt::format("{}/{}%4", j, t_.columns / 4), fmt::format("{}%2", j)});
  }

  // Slabs of blocks one behind the other.
  schedule::Names packed(const schedule::Names& axes, const ProductOperand& operand) const {
    const std::string& j = axes[static_cast<std::size_t>(operand.tile)];
    const std::string& k = axes[static_cast<std::size_t>(operand.steps)];
    schedule::Names layout = others(axes, operand);
    layout.insert(layout.end(),
                  {fmt::format("{}/{}", j, t_.block_columns()), fmt::format("{}/{}", k, t_.slab()),
                   fmt::format("{}/{}%{}", k, vector_, t_.slab() / vector_)});
    add_columns(layout, j, fmt::format("{}/{}%{}", j, t_.columns, t_.groups_n));
    layout.push_back(fmt::format("{}%{}", k, vector_));
    return layout;
  }

  static schedule::Names others(const schedule::Names& axes, const ProductOperand& operand) {
    schedule::Names names;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const int at = static_cast<int>(d);
      if (at != operand.tile && at != operand.steps) names.push_back(axes[d]);
    }
    return names;
  }

  LaunchWriter& writer_;
  const ProductFacts& facts_;
  const WarpgroupTiling& t_;
  const std::int64_t vector_ = kVectorBytes / std::max<std::int64_t>(1, facts_.element_bytes);
  std::string host_, sum_;                // stages
  std::vector<schedule::Names> read_at_;  // axes of the host, for each of the product's
  std::string lane_loop_, slab_loop_, rows_loop_;
};

}  // namespace

bool write_warpgroup_product(LaunchWriter& writer, const ProductFacts& facts,
                             const std::string& host, const std::vector<schedule::Names>& read_at,
                             const WarpgroupTiling& tiling, schedule::Names& done) {
  schedule::Names placed;
  const bool written = writer.together(
      [&] { return WarpgroupWriter(writer, facts, tiling).write(host, read_at, placed); });
  if (written) done.insert(done.end(), placed.begin(), placed.end());
  return written;
}

}  // namespace attune::templates
