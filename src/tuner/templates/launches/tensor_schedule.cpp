#include "tuner/templates/launches/tensor_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tuner/templates/launches/spread_sum.h"
#include "tuner/templates/launches/tensor_operands.h"

namespace attune::templates {
namespace {

std::string axis_name(std::string loop) {
  std::replace(loop.begin(), loop.end(), '.', '_');
  return loop;
}

// Of a number, the largest that is at most this.
std::int64_t largest_divisor(std::int64_t number, std::int64_t most) {
  std::int64_t divisor = std::min(number, most);
  while (number % divisor != 0) --divisor;
  return divisor;
}

class TensorWriter {
 public:
  TensorWriter(LaunchWriter& writer, const ProductFacts& facts, const MatrixUse& use,
               const TensorTiling& tiling)
      : writer_(writer),
        facts_(facts),
        use_(use),
        t_(tiling),
        shape_(tensor_shape(facts, use)),
        left_(writer, facts, facts.left, tiling, shape_, tiling.rows(), 2 * tiling.tiles_m),
        right_(writer, facts, facts.right, tiling, shape_, columns_of_block(tiling, shape_), 1),
        sum_(facts.stage),
        k_(facts.k_tile) {}

  bool write(const std::string& host, const std::vector<schedule::Names>& read_at,
             schedule::Names& done) {
    host_ = host;
    read_at_ = read_at;
    if (host_.empty() && !store_by_itself()) return false;
    const std::string last_host = host_, last_sum = sum_;
    if (!left_.make_own(sum_) || !right_.make_own(sum_) || !pad()) return false;
    if (t_.splits > 1 && !split_over_blocks()) return false;
    if (!share_among_groups()) return false;
    if (!(t_.groups > 1 ? cut_for_sums() && place_sums() && cut_partial() : cut_for_lanes())) {
      return false;
    }
    if (!order_sum()) return false;
    if (!left_.fetch(computing_, outer_, done) || !right_.fetch(computing_, outer_, done)) {
      return false;
    }
    if (!perform(schedule::Tensorize{computing_, tile_loop_, std::string(use_.intrinsic->name)})) {
      return false;
    }
    if (t_.splits > 1 && !spread_sum(writer_, last_host, last_sum)) return false;
    done.push_back(last_host);
    done.push_back(facts_.stage);
    return true;
  }

 private:
  bool perform(const schedule::Step& step) { return writer_.perform(step); }

  static std::int64_t columns_of_block(const TensorTiling& t, const TensorShape& shape) {
    return t.warps_n * t.tiles_n * shape.columns;
  }
  bool has_lane() const { return !facts_.n_lane.empty(); }
  // Of `n_tile`, in a block and in a thread.
  std::int64_t block_n() const { return columns_of_block(t_, shape_) / facts_.n_lanes; }
  std::int64_t thread_n() const { return block_n() / (t_.warps_n * 4); }

  // The sum moves to a copy that can be placed.
  bool store_by_itself() {
    if (!perform(schedule::CacheWrite{sum_})) return false;
    host_ = sum_;
    sum_ = "cache." + sum_;
    own_axes();
    return true;
  }

  void own_axes() {
    read_at_.clear();
    for (const ir::Axis& axis : writer_.stage(host_).stage.axes) read_at_.push_back({axis.name});
  }

  bool pad() {
    const std::int64_t steps = t_.splits * t_.groups * t_.panels * shape_.panel;
    return perform(schedule::Pad{sum_, facts_.m_tile, t_.rows()}) &&
           perform(schedule::Pad{sum_, facts_.n_tile, block_n()}) &&
           perform(schedule::Pad{sum_, k_, steps});
  }

  std::int64_t padded_k() const {
    for (const ir::Axis& axis : writer_.stage(sum_).stage.reduce_axes) {
      if (axis.name == k_) return axis.extent;
    }
    return 1;
  }

  // Partial sums of whole ranges of steps go through global memory, one image of the result each.
  bool split_over_blocks() {
    if (!perform(schedule::Split{sum_, k_, {padded_k() / t_.splits}}) ||
        !perform(schedule::Rfactor{sum_, k_ + ".0"})) {
      return false;
    }
    host_ = "rf." + sum_;
    if (!perform(schedule::CacheWrite{host_})) return false;
    const std::vector<ir::Axis>& axes = writer_.stage(host_).stage.axes;
    schedule::Layout layout{host_, {axes.back().name}};
    for (std::size_t i = 0; i + 1 < axes.size(); ++i) layout.terms.push_back(axes[i].name);
    if (!perform(layout)) return false;
    sum_ = "cache." + host_;
    k_ = axis_name(k_ + ".1");
    own_axes();
    return true;
  }

  // Partial sums of every group are made side by side; `partial_` is the stage that collects them.
  bool share_among_groups() {
    const std::int64_t slab = t_.panels * shape_.panel;
    if (t_.groups == 1) {
      computing_ = sum_;
      outer_ = k_ + ".0", inner_ = k_ + ".1";
      return true;
    }
    if (!perform(schedule::Split{sum_, k_, {t_.groups, slab}}) ||
        !perform(schedule::Rfactor{sum_, k_ + ".1"})) {
      return false;
    }
    partial_ = "rf." + sum_;
    if (!perform(schedule::CacheWrite{partial_})) return false;
    computing_ = "cache." + partial_;
    outer_ = axis_name(k_ + ".0"), inner_ = axis_name(k_ + ".2");
    return true;
  }

  // Which of the product's axes a loop of the host stands for.
  std::size_t position_of(const std::string& axis) const {
    const std::vector<ir::Axis>& axes = writer_.stage(sum_).stage.axes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].name == axis) return i;
    }
    return 0;
  }

  // The host's loops: rows and columns one each, the lane innermost; blocks of all else.
  bool open_host() {
    const std::size_t m = position_of(facts_.m_tile), n = position_of(facts_.n_tile);
    const std::size_t lane = has_lane() ? position_of(facts_.n_lane) : read_at_.size();
    if (read_at_[m].empty() || read_at_[n].empty()) return false;
    rest_ = writer_.loops(host_, false);
    schedule::Names order;
    for (const std::size_t each : {m, n, lane}) {
      if (each == read_at_.size()) continue;
      for (const std::string& name : read_at_[each]) std::erase(rest_, name);
      order.insert(order.end(), read_at_[each].begin(), read_at_[each].end());
    }
    order.insert(order.begin(), rest_.begin(), rest_.end());
    if (!perform(schedule::Reorder{host_, order})) return false;
    rows_ = writer_.fused(host_, read_at_[m]);
    columns_ = writer_.fused(host_, read_at_[n]);
    if (has_lane()) lanes_ = read_at_[lane];
    if (lanes_.size() > 1) return false;
    return perform(schedule::Split{host_, rows_, {t_.rows()}}) &&
           perform(schedule::Split{host_, columns_, {block_n()}});
  }

  bool bind_blocks() {
    if (!rest_.empty() && !perform(schedule::Bind{host_, writer_.fused(host_, rest_), "block.z"})) {
      return false;
    }
    return perform(schedule::Bind{host_, rows_ + ".0", "block.y"}) &&
           perform(schedule::Bind{host_, columns_ + ".0", "block.x"});
  }

  // Whether rows of the host's result are cut into whole vectors along the columns.
  bool stores_vectors() const {
    const schedule::StageState& host = writer_.stage(host_);
    const std::vector<ir::Axis>& axes = host.stage.axes;
    const ir::Axis& row =
        host.layout.empty() ? axes.back() : axes[static_cast<std::size_t>(host.layout.back().axis)];
    return !has_lane() && read_at_[position_of(facts_.n_tile)].back() == row.name &&
           row.extent % shape_.vector == 0;
  }

  // The last loops of a stage that stores: written out, those side by side in vectors.
  bool finish(const std::string& stage, const schedule::Names& loops, bool vectors) {
    for (std::size_t i = 0; i < loops.size(); ++i) {
      const bool last = i + 1 == loops.size();
      const schedule::Step step = last && vectors
                                      ? schedule::Step(schedule::Vectorize{stage, loops[i]})
                                      : schedule::Step(schedule::Unroll{stage, loops[i]});
      if (!perform(step)) return false;
    }
    return true;
  }

  // Warps, lanes and what a lane holds, as loops of a stage over rows and columns: `around` them.
  bool cut_lanes(const std::string& stage, const std::string& m, const std::string& n,
                 const schedule::Names& around, const schedule::Names& lanes, bool vectors) {
    schedule::Numbers columns{4, thread_n()};
    if (!has_lane()) columns = {4, thread_n() / shape_.vector, shape_.vector};
    if (!perform(schedule::Split{stage, m, {8, 2 * t_.tiles_m}}) ||
        !perform(schedule::Split{stage, n, columns})) {
      return false;
    }
    schedule::Names order(around), inside{m + ".2", n + ".2"};
    if (!has_lane()) inside.push_back(n + ".3");
    inside.insert(inside.end(), lanes.begin(), lanes.end());
    order.insert(order.end(), {m + ".0", n + ".0", m + ".1", n + ".1"});
    order.insert(order.end(), inside.begin(), inside.end());
    if (!perform(schedule::Reorder{stage, order})) return false;
    const std::string warps = writer_.fused(stage, {m + ".0", n + ".0"});
    lane_loop_ = writer_.fused(stage, {m + ".1", n + ".1"});
    return perform(schedule::Bind{stage, warps, "thread.y"}) &&
           perform(schedule::Bind{stage, lane_loop_, "thread.x"}) && finish(stage, inside, vectors);
  }

  // Every lane stores what it holds.
  bool cut_for_lanes() {
    if (!open_host()) return false;
    schedule::Names around(rest_);
    around.insert(around.end(), {rows_ + ".0", columns_ + ".0"});
    return cut_lanes(host_, rows_ + ".1", columns_ + ".1", around, lanes_,
                     has_lane() || stores_vectors()) &&
           bind_blocks() && perform(schedule::ComputeAt{computing_, host_, lane_loop_}) &&
           perform(schedule::SetScope{computing_, "register"});
  }

  // What groups made is summed by whichever thread stores it: neighbours along rows of the result.
  bool cut_for_sums() {
    if (!open_host()) return false;
    const std::string m = rows_ + ".1", n = columns_ + ".1";
    const std::int64_t x = std::gcd(t_.rows(), std::int64_t{32}), along = t_.rows() / x;
    const std::int64_t vectors = has_lane() ? 1 : shape_.vector;
    const std::int64_t across = block_n() / vectors;
    const bool deep = along % t_.groups == 0;  // groups share the rows, else the columns
    const std::int64_t of_groups = deep ? 1 : largest_divisor(across, t_.groups);
    const std::int64_t of_warps = largest_divisor(across / of_groups, t_.warps());
    schedule::Numbers rows{x}, columns{of_warps};
    if (deep) rows = {t_.groups, x};
    if (!deep) columns = {of_groups, of_warps};
    if (vectors > 1) columns.push_back(vectors);
    if (!perform(schedule::Split{host_, m, rows}) || !perform(schedule::Split{host_, n, columns})) {
      return false;
    }
    const std::string z = deep ? m + ".1" : n + ".1", y = n + (deep ? ".1" : ".2");
    lane_loop_ = m + (deep ? ".2" : ".1");
    schedule::Names order(rest_), inside;
    order.insert(order.end(),
                 {rows_ + ".0", columns_ + ".0", z, y, lane_loop_, m + ".0", n + ".0"});
    inside = {m + ".0", n + ".0"};
    if (vectors > 1) inside.push_back(n + (deep ? ".2" : ".3"));
    inside.insert(inside.end(), lanes_.begin(), lanes_.end());
    if (vectors > 1) order.push_back(n + (deep ? ".2" : ".3"));
    order.insert(order.end(), lanes_.begin(), lanes_.end());
    sum_loop_ = n + ".0";
    inside.erase(inside.begin(), inside.begin() + 2);
    return perform(schedule::Reorder{host_, order}) && bind_blocks() &&
           perform(schedule::Bind{host_, z, "thread.z"}) &&
           perform(schedule::Bind{host_, y, "thread.y"}) &&
           perform(schedule::Bind{host_, lane_loop_, "thread.x"}) &&
           finish(host_, inside, has_lane() || stores_vectors());
  }

  bool place_sums() {
    if (!perform(schedule::ComputeAt{sum_, host_, sum_loop_}) ||
        !perform(schedule::SetScope{sum_, "register"}) ||
        !perform(schedule::ComputeAt{partial_, host_, columns_ + ".0"}) ||
        !perform(schedule::SetScope{partial_, "shared"})) {
      return false;
    }
    // All parts of neighbouring columns at once.
    const std::string along = has_lane() ? facts_.n_lane : facts_.n_tile;
    schedule::Names order = writer_.loops(sum_, true), own = writer_.loops(sum_, false);
    std::erase(own, along);
    order.insert(order.end(), own.begin(), own.end());
    order.push_back(along);
    return perform(schedule::Reorder{sum_, order}) && finish(sum_, order, true);
  }

  // Where lanes put what they hold, so that they meet no bank twice.
  bool lay_out_partial() {
    const std::string& m = facts_.m_tile;
    const std::string& n = facts_.n_tile;
    const std::int64_t rows = 2 * t_.tiles_m;
    const std::int64_t vector = has_lane() ? 1 : shape_.vector;
    const std::int64_t tiles = thread_n() / vector;
    schedule::Names terms;
    for (const ir::Axis& axis : writer_.stage(partial_).stage.axes) {
      if (axis.name != m && axis.name != n && axis.name != facts_.n_lane) {
        terms.push_back(axis.name);
      }
    }
    std::rotate(terms.begin(), terms.end() - 1, terms.end());
    terms.push_back(fmt::format("{}/{}", n, 4 * tiles * vector));
    terms.push_back(fmt::format("{}/{}%{}", n, vector, tiles));
    terms.push_back(fmt::format("{}%{}", m, rows));
    terms.push_back(fmt::format("{}/{}", m, rows));
    terms.push_back(fmt::format("{}/{}%4", n, tiles * vector));
    if (has_lane()) terms.push_back(facts_.n_lane);
    if (!has_lane()) terms.push_back(fmt::format("{}%{}", n, vector));
    return perform(schedule::Layout{partial_, terms});
  }

  bool cut_partial() {
    schedule::Names around = writer_.loops(partial_, false), lanes;
    std::erase(around, facts_.m_tile);
    std::erase(around, facts_.n_tile);
    if (has_lane()) {
      std::erase(around, facts_.n_lane);
      lanes.push_back(facts_.n_lane);
    }
    const std::string group = around.back();
    return lay_out_partial() &&
           cut_lanes(partial_, facts_.m_tile, facts_.n_tile, around, lanes, true) &&
           perform(schedule::Bind{partial_, group, "thread.z"}) &&
           perform(schedule::ComputeAt{computing_, partial_, lane_loop_}) &&
           perform(schedule::SetScope{computing_, "register"});
  }

  // Slabs outermost, then panels, then the tiles of a warp; what one call takes is innermost.
  bool order_sum() {
    const std::string& m = facts_.m_tile;
    const std::string columns = has_lane() ? facts_.n_lane : facts_.n_tile;
    if (t_.groups == 1 && !perform(schedule::Split{computing_, k_, {t_.panels * shape_.panel}})) {
      return false;
    }
    if (!perform(schedule::Split{computing_, inner_, {shape_.panel}}) ||
        !perform(schedule::Split{computing_, m, {2}}) ||
        !perform(schedule::Split{computing_, columns, {2}})) {
      return false;
    }
    schedule::Names order = writer_.loops(computing_, true);
    std::erase(order, outer_);
    std::erase(order, inner_ + ".0");
    std::erase(order, inner_ + ".1");
    if (!facts_.k_lane.empty()) std::erase(order, facts_.k_lane);
    schedule::Names own = writer_.loops(computing_, false);
    for (const std::string& name : {m + ".0", m + ".1", columns + ".0", columns + ".1"}) {
      std::erase(own, name);
    }
    order.insert(order.begin(), outer_);
    order.push_back(inner_ + ".0");
    order.push_back(m + ".0");
    order.insert(order.end(), own.begin(), own.end());
    tile_loop_ = m + ".1";
    order.insert(order.end(), {columns + ".0", tile_loop_, columns + ".1", inner_ + ".1"});
    if (facts_.k_lane.empty()) return perform(schedule::Reorder{computing_, order});
    order.push_back(facts_.k_lane);
    return perform(schedule::Reorder{computing_, order}) &&
           perform(schedule::Fuse{computing_, {inner_ + ".1", facts_.k_lane}});
  }

  LaunchWriter& writer_;
  const ProductFacts& facts_;
  const MatrixUse& use_;
  const TensorTiling& t_;
  const TensorShape shape_;
  TensorOperand left_, right_;
  std::string host_, sum_, partial_, computing_;  // stages
  std::vector<schedule::Names> read_at_;          // axes of the host, for each of the product's
  std::string k_, outer_, inner_, tile_loop_;     // loops of the sum
  schedule::Names rest_, lanes_;                  // of the host
  std::string rows_, columns_, lane_loop_, sum_loop_;
};

}  // namespace

TensorShape tensor_shape(const ProductFacts& facts, const MatrixUse& use) {
  TensorShape shape;
  if (facts.n_lanes > 1) shape.vector = facts.n_lanes;
  shape.columns = 4 * shape.vector;
  shape.panel = use.terms / facts.k_lanes;
  shape.total_k = facts.k;
  shape.element_bytes = facts.element_bytes;
  return shape;
}

bool write_tensor_product(LaunchWriter& writer, const ProductFacts& facts, const MatrixUse& use,
                          const std::string& host, const std::vector<schedule::Names>& read_at,
                          const TensorTiling& tiling, schedule::Names& done) {
  schedule::Names placed;
  const bool written = writer.together(
      [&] { return TensorWriter(writer, facts, use, tiling).write(host, read_at, placed); });
  if (written) done.insert(done.end(), placed.begin(), placed.end());
  return written;
}

}  // namespace attune::templates
