#include "tuner/templates/launches/product_schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/templates/launches/product_operands.h"
#include "tuner/templates/launches/spread_sum.h"

namespace attune::templates {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::string axis_name(std::string loop) {
  std::replace(loop.begin(), loop.end(), '.', '_');
  return loop;
}

class ProductWriter {
 public:
  ProductWriter(LaunchWriter& writer, const ProductFacts& facts, const ProductTiling& tiling)
      : writer_(writer), facts_(facts), tiling_(tiling), sum_(facts.stage), k_(facts.k_tile) {}

  bool write(const std::string& host, const std::vector<schedule::Names>& read_at,
             schedule::Names& done) {
    host_ = host;
    for (std::size_t i = 0; i < read_at.size(); ++i) read_at_.push_back(read_at[i]);
    if (host_.empty() && !store_by_itself()) return false;
    const std::string last_host = host_, last_sum = sum_;
    if (tiling_.splits > 1 && !split_over_blocks()) return false;
    if (!share_among_groups() || !cut_host() || !place_sums()) return false;
    if (!order_sum() || !fetch(done)) return false;
    if (tiling_.splits > 1 && !spread_sum(writer_, last_host, last_sum)) return false;
    done.push_back(last_host);
    done.push_back(facts_.stage);
    return true;
  }

 private:
  bool perform(const schedule::Step& step) { return writer_.perform(step); }

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

  // Partial sums of whole ranges of steps go through global memory, one image of the result each.
  bool split_over_blocks() {
    const std::int64_t part = part_of(facts_, tiling_);
    if (!perform(schedule::Split{sum_, k_, {part}}) ||
        !perform(schedule::Rfactor{sum_, k_ + ".0"})) {
      return false;
    }
    host_ = "rf." + sum_;
    if (!perform(schedule::CacheWrite{host_}) || !lay_out_last_first(host_)) return false;
    sum_ = "cache." + host_;
    k_ = axis_name(k_ + ".1");
    own_axes();
    return true;
  }

  // Partial sums of every group are made side by side; `partial_` is the stage that collects them.
  bool share_among_groups() {
    if (tiling_.groups == 1) {
      computing_ = sum_;
      outer_ = k_ + ".0", inner_ = k_ + ".1";
      return true;
    }
    if (!perform(schedule::Split{sum_, k_, {tiling_.groups, tiling_.slab}}) ||
        !perform(schedule::Rfactor{sum_, k_ + ".1"})) {
      return false;
    }
    partial_ = "rf." + sum_;
    // With lanes, threads that store at once are a tile's rows apart: an odd number of vectors.
    const std::int64_t rows = facts_.n_lane.empty() ? 0 : tiling_.rows() | 1;
    if (!perform(schedule::CacheWrite{partial_}) || !lay_out_last_first(partial_, rows)) {
      return false;
    }
    computing_ = "cache." + partial_;
    outer_ = axis_name(k_ + ".0"), inner_ = axis_name(k_ + ".2");
    return true;
  }

  // The last axis, which the partial sums differ in, becomes the slowest in memory. There is room
  // for so many rows of a tile, where that is not 0.
  bool lay_out_last_first(const std::string& stage, std::int64_t rows = 0) {
    const std::vector<ir::Axis>& axes = writer_.stage(stage).stage.axes;
    schedule::Layout layout{stage, {axes.back().name}};
    for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
      const std::string& name = axes[i].name;
      const bool padded = rows > 0 && name == facts_.m_tile;
      if (padded) layout.terms.push_back(fmt::format("{}/{}", name, rows));
      layout.terms.push_back(padded ? fmt::format("{}%{}", name, rows) : name);
    }
    return perform(layout);
  }

  // Which of the product's axes a loop of the host stands for.
  std::size_t position_of(const std::string& axis) const {
    const std::vector<ir::Axis>& axes = writer_.stage(sum_).stage.axes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].name == axis) return i;
    }
    return 0;
  }

  // Blocks, threads and what each of these computes, as loops of the host.
  bool cut_host() {
    const std::size_t m = position_of(facts_.m_tile), n = position_of(facts_.n_tile);
    const std::size_t lane = facts_.n_lane.empty() ? read_at_.size() : position_of(facts_.n_lane);
    if (read_at_[m].empty() || read_at_[n].empty()) return false;
    schedule::Names rest = writer_.loops(host_, false), order;
    for (const std::size_t each : {m, n, lane}) {
      if (each == read_at_.size()) continue;
      for (const std::string& name : read_at_[each]) std::erase(rest, name);
    }
    order = rest;
    for (const std::size_t each : {m, n, lane}) {
      if (each == read_at_.size()) continue;
      order.insert(order.end(), read_at_[each].begin(), read_at_[each].end());
    }
    if (!perform(schedule::Reorder{host_, order})) return false;
    const std::string rows = writer_.fused(host_, read_at_[m]);
    const std::string columns = writer_.fused(host_, read_at_[n]);
    schedule::Names lanes;
    if (lane != read_at_.size()) lanes = read_at_[lane];
    return cut_tiles(rest, rows, columns, lanes);
  }

  bool cut_tiles(const schedule::Names& rest, const std::string& m, const std::string& n,
                 const schedule::Names& lanes) {
    const std::int64_t rows = tiling_.rows();
    schedule::Numbers within{tiling_.tile_m};
    if (tiling_.groups > 1) within = rows_of_threads();
    const std::int64_t vector = vector_of_columns();
    schedule::Numbers columns{tiling_.tile_n};
    if (vector > 1) columns = {tiling_.tile_n / vector, vector};
    if (!perform(schedule::Split{host_, m, {rows}}) ||
        !perform(schedule::Split{host_, n, {tiling_.columns()}}) ||
        !perform(schedule::Split{host_, m + ".1", within}) ||
        !perform(schedule::Split{host_, n + ".1", columns})) {
      return false;
    }
    schedule::Names order(rest);
    order.insert(order.end(), {m + ".0", n + ".0", m + ".1.0"});
    if (tiling_.groups > 1) order.push_back(m + ".1.1");
    order.push_back(n + ".1.0");
    const schedule::Names rows_of_thread{m + (tiling_.groups > 1 ? ".1.2" : ".1.1")};
    schedule::Names unrolled(rows_of_thread);
    unrolled.push_back(n + ".1.1");
    order.insert(order.end(), unrolled.begin(), unrolled.end());
    if (vector > 1) order.push_back(n + ".1.2");
    order.insert(order.end(), lanes.begin(), lanes.end());
    if (!perform(schedule::Reorder{host_, order})) return false;
    block_loop_ = n + ".0", thread_loop_ = n + ".1.0";
    if (!rest.empty() && !perform(schedule::Bind{host_, writer_.fused(host_, rest), "block.z"})) {
      return false;
    }
    return bind_tiles(m, n) && finish_tiles(unrolled, vector > 1 ? n + ".1.2" : "", lanes);
  }

  // Groups share out the rows that are stored, as far as they do it evenly: what is read beyond the
  // tile would have to be computed too. How many threads of a group take some, and how many each.
  schedule::Numbers rows_of_threads() const {
    const std::int64_t rows = tiling_.rows();
    schedule::Numbers best{1, rows};
    for (std::int64_t groups = 1; groups <= tiling_.groups; ++groups) {
      for (std::int64_t threads = 1; threads <= tiling_.threads_m; ++threads) {
        const std::int64_t each = rows / (groups * threads);
        if (rows % (groups * threads) == 0 && each < best[1]) best = {threads, each};
      }
    }
    return best;
  }

  bool bind_tiles(const std::string& m, const std::string& n) {
    if (!perform(schedule::Bind{host_, m + ".0", "block.y"}) ||
        !perform(schedule::Bind{host_, n + ".0", "block.x"}) ||
        !perform(schedule::Bind{host_, n + ".1.0", "thread.x"})) {
      return false;
    }
    if (tiling_.groups == 1) return perform(schedule::Bind{host_, m + ".1.0", "thread.y"});
    return perform(schedule::Bind{host_, m + ".1.0", "thread.z"}) &&
           perform(schedule::Bind{host_, m + ".1.1", "thread.y"});
  }

  bool finish_tiles(const schedule::Names& unrolled, const std::string& vector,
                    const schedule::Names& lanes) {
    for (const std::string& loop : unrolled) {
      if (!perform(schedule::Unroll{host_, loop})) return false;
    }
    if (!vector.empty() && !perform(schedule::Vectorize{host_, vector})) return false;
    if (lanes.size() != 1) return lanes.empty();
    return perform(schedule::Vectorize{host_, lanes[0]});
  }

  // How many columns are stored at once: those of a row that is cut into whole vectors.
  std::int64_t vector_of_columns() const {
    const schedule::StageState& host = writer_.stage(host_);
    const std::vector<ir::Axis>& axes = host.stage.axes;
    const std::int64_t vector = 16 / std::max<std::int64_t>(1, host.stage.outputs[0]->type.bytes());
    const ir::Axis& row =
        host.layout.empty() ? axes.back() : axes[static_cast<std::size_t>(host.layout.back().axis)];
    const bool last = read_at_[position_of(facts_.n_tile)].back() == row.name;
    const bool whole = vector > 1 && tiling_.tile_n % vector == 0 && row.extent % vector == 0;
    return facts_.n_lane.empty() && last && whole ? vector : 1;
  }

  // Accumulators are a thread's own; what groups made is summed by whichever thread stores it.
  bool place_sums() {
    if (tiling_.groups == 1) {
      return perform(schedule::ComputeAt{computing_, host_, thread_loop_}) &&
             perform(schedule::SetScope{computing_, "register"});
    }
    if (!perform(schedule::ComputeAt{sum_, host_, thread_loop_}) ||
        !perform(schedule::SetScope{sum_, "register"}) ||
        !perform(schedule::ComputeAt{partial_, host_, block_loop_}) ||
        !perform(schedule::SetScope{partial_, "shared"})) {
      return false;
    }
    return add_up_groups() && cut_partial();
  }

  // All that a thread adds up is read before it is added.
  bool add_up_groups() {
    schedule::Names order = writer_.loops(sum_, true);
    const schedule::Names own = writer_.loops(sum_, false);
    order.insert(order.end(), own.begin(), own.end());
    if (!perform(schedule::Reorder{sum_, order})) return false;
    const bool lanes = !facts_.n_lane.empty() && own.back() == facts_.n_lane;
    for (const std::string& loop : order) {
      const bool vector = lanes && loop == own.back();
      if (!perform(vector ? schedule::Step(schedule::Vectorize{sum_, loop})
                          : schedule::Step(schedule::Unroll{sum_, loop}))) {
        return false;
      }
    }
    return true;
  }

  bool cut_partial() {
    const std::string& m = facts_.m_tile;
    const std::string& n = facts_.n_tile;
    schedule::Names axes = writer_.loops(partial_, false);
    const std::string group = axes.back();
    axes.pop_back();
    std::erase(axes, m);
    std::erase(axes, n);
    if (!perform(schedule::Split{partial_, m, {tiling_.tile_m}}) ||
        !perform(schedule::Split{partial_, n, {tiling_.tile_n}})) {
      return false;
    }
    const bool lanes = !facts_.n_lane.empty();
    if (lanes) std::erase(axes, facts_.n_lane);
    schedule::Names order{group, m + ".0", n + ".0"};
    order.insert(order.end(), axes.begin(), axes.end());
    order.insert(order.end(), {m + ".1", n + ".1"});
    if (lanes) order.push_back(facts_.n_lane);
    if (!perform(schedule::Reorder{partial_, order}) ||
        !perform(schedule::Bind{partial_, group, "thread.z"}) ||
        !perform(schedule::Bind{partial_, m + ".0", "thread.y"}) ||
        !perform(schedule::Bind{partial_, n + ".0", "thread.x"}) ||
        !perform(schedule::Unroll{partial_, m + ".1"}) ||
        !perform(schedule::Unroll{partial_, n + ".1"})) {
      return false;
    }
    if (lanes && !perform(schedule::Vectorize{partial_, facts_.n_lane})) return false;
    return perform(schedule::ComputeAt{computing_, partial_, n + ".0"}) &&
           perform(schedule::SetScope{computing_, "register"});
  }

  std::int64_t vector_of_steps() const {
    return 16 / std::max<std::int64_t>(1, facts_.element_bytes);
  }

  // Slabs outermost, then single steps, and the tile of a thread inside of each.
  bool order_sum() {
    if (tiling_.groups == 1 && !perform(schedule::Split{computing_, k_, {tiling_.slab}})) {
      return false;
    }
    schedule::Names order{outer_}, steps = writer_.loops(computing_, true);
    std::erase(steps, outer_);
    std::erase(steps, inner_);
    const bool lanes = !facts_.k_lane.empty();
    if (lanes) std::erase(steps, facts_.k_lane);
    order.insert(order.end(), steps.begin(), steps.end());
    step_ = inner_;
    schedule::Names unrolled;
    const std::int64_t vector = vector_of_steps();
    if (!lanes && vector > 1 && tiling_.slab % vector == 0 && facts_.left.tiles_k() &&
        !tiling_.turned) {
      if (!perform(schedule::Split{computing_, inner_, {vector}})) return false;
      step_ = inner_ + ".0";
      unrolled.push_back(inner_ + ".1");
    }
    order.push_back(step_);
    if (lanes) unrolled.push_back(facts_.k_lane);
    for (const std::string& axis : writer_.loops(computing_, false)) unrolled.push_back(axis);
    order.insert(order.end(), unrolled.begin(), unrolled.end());
    if (!perform(schedule::Reorder{computing_, order})) return false;
    for (const std::string& loop : unrolled) {
      if (!perform(schedule::Unroll{computing_, loop})) return false;
    }
    return true;
  }

  bool fetch(schedule::Names& done) {
    const OperandPlace place{
        computing_, outer_, step_, step_ == inner_ ? 1 : vector_of_steps(), tiling_, facts_.turns};
    return fetch_left(writer_, facts_, place, done) && fetch_right(writer_, facts_, place, done);
  }

  LaunchWriter& writer_;
  const ProductFacts& facts_;
  const ProductTiling& tiling_;
  std::string host_, sum_, partial_, computing_;  // stages
  std::vector<schedule::Names> read_at_;          // axes of the host, for each of the product's
  std::string k_, outer_, inner_, step_;          // loops of the sum
  std::string block_loop_, thread_loop_;          // of the host
};

}  // namespace

std::int64_t part_of(const ProductFacts& facts, const ProductTiling& tiling) {
  std::int64_t whole = 1;
  for (const std::int64_t turn : facts.turns) {
    if (tiling.slab % turn == 0) whole = turn;
  }
  return std::min(facts.k, ceil_div(ceil_div(facts.k, tiling.splits), whole) * whole);
}

bool write_product(LaunchWriter& writer, const ProductFacts& facts, const std::string& host,
                   const std::vector<schedule::Names>& read_at, const ProductTiling& tiling,
                   schedule::Names& done) {
  schedule::Names placed;
  const bool written = writer.together(
      [&] { return ProductWriter(writer, facts, tiling).write(host, read_at, placed); });
  if (written) done.insert(done.end(), placed.begin(), placed.end());
  return written;
}

}  // namespace attune::templates
