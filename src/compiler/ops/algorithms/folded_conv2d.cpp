#include "compiler/ops/algorithms/folded_conv2d.h"

namespace attune::ops {
namespace {

std::int64_t taps_of(const Window& window) { return ceil_div(window.kernel, window.stride); }

// A folded channel: which channel in which phase.
struct Unfolded {
  ir::Expr channel, row, column;
};

// `block` and `lane` of folded channels. The channel is that of the (blocked) weights.
Unfolded unfold(const Conv2dOptions& options, const ir::Expr& block, const ir::Expr& lane) {
  const ir::Expr width = options.w.stride;
  if (options.reads_nchw()) return {block, lane / width, lane % width};
  const ChannelCut cut = options.cut();
  const ir::Expr phase = block / ir::Expr(cut.blocks);
  return {block % ir::Expr(cut.blocks) * ir::Expr(cut.lanes) + lane, phase / width, phase % width};
}

void require(ir::Expr& condition, const ir::Expr& more) {
  condition = condition ? condition && more : more;
}

}  // namespace

bool folds(const Conv2dOptions& options) {
  const bool dense = options.h.dilation == 1 && options.w.dilation == 1 && options.groups == 1;
  return dense && (options.h.stride > 1 || options.w.stride > 1) &&
         taps_of(options.h) == taps_of(options.w) && options.h.kernel >= options.h.stride &&
         options.w.kernel >= options.w.stride;
}

std::int64_t folded_taps(const Conv2dOptions& options) { return taps_of(options.h); }

ChannelCut folded_cut(const Conv2dOptions& options) {
  const std::int64_t phases = options.h.stride * options.w.stride;
  if (options.reads_nchw()) return {options.ic, phases};
  return {options.cut().blocks * phases, options.cut().lanes};
}

ir::Buffer add_folded_filter(ir::Program& program, const Conv2dOptions& options,
                             const ir::Buffer& weight) {
  const ChannelCut cut = folded_cut(options);
  const std::vector<ir::Axis> axes{{"oc", options.channels().oc_blocks() * options.block},
                                   {"ic", cut.blocks * cut.lanes},
                                   {"kh", folded_taps(options)},
                                   {"kw", folded_taps(options)}};
  const ir::Expr lanes = cut.lanes;
  const Unfolded at = unfold(options, ir::var("ic") / lanes, ir::var("ic") % lanes);
  const ir::Expr row = ir::var("kh") * ir::Expr(options.h.stride) + at.row;
  const ir::Expr column = ir::var("kw") * ir::Expr(options.w.stride) + at.column;
  ir::Expr inside;
  if (options.oc != axes[0].extent) require(inside, ir::var("oc") < ir::Expr(options.oc));
  const ChannelCut real = options.cut();
  if (options.ic != real.blocks * real.lanes) require(inside, at.channel < ir::Expr(options.ic));
  const auto within = [&](const ir::Expr& tap, const Window& window) {
    if (window.kernel % window.stride != 0) require(inside, tap < ir::Expr(window.kernel));
  };
  within(row, options.h);
  within(column, options.w);
  const ir::Expr value = ir::load(weight, {ir::var("oc"), at.channel, row, column});
  return ir::add_compute(program, "filter", axes,
                         inside ? ir::select(inside, value, ir::zero_of(options.dtype)) : value);
}

ir::Buffer add_folded_input(ir::Program& program, const Conv2dOptions& options,
                            const ir::Buffer& data, std::int64_t rows, std::int64_t columns) {
  const ChannelCut cut = folded_cut(options);
  std::vector<ir::Axis> axes{{"n", options.n},
                             {"ic", cut.blocks},
                             {"ih", rows + folded_taps(options) - 1},
                             {"iw", columns + folded_taps(options) - 1}};
  ir::Expr inside;
  const auto position = [&](const char* axis, const Window& window, const ir::Expr& phase,
                            std::int64_t extent) {
    const ir::Expr padded = ir::var(axis) * ir::Expr(window.stride) + phase;
    if (window.pad_before > 0) require(inside, padded >= ir::Expr(window.pad_before));
    if (extent * window.stride > window.size + window.pad_before) {
      require(inside, padded < ir::Expr(window.size + window.pad_before));
    }
    return window.pad_before > 0 ? padded - ir::Expr(window.pad_before) : padded;
  };
  std::vector<ir::Expr> index{ir::var("n")};
  if (options.reads_nchw()) {
    axes.push_back({"ph", options.h.stride});
    axes.push_back({"pw", options.w.stride});
    index.push_back(ir::var("ic"));
    index.push_back(position("ih", options.h, ir::var("ph"), axes[2].extent));
    index.push_back(position("iw", options.w, ir::var("pw"), axes[3].extent));
  } else {
    axes.push_back({"ib", cut.lanes});
    const ir::Expr blocks = options.cut().blocks, width = options.w.stride;
    const ir::Expr phase = ir::var("ic") / blocks;
    index.push_back(ir::var("ic") % blocks);
    index.push_back(position("ih", options.h, phase / width, axes[2].extent));
    index.push_back(position("iw", options.w, phase % width, axes[3].extent));
    index.push_back(ir::var("ib"));
  }
  const ir::Expr value = ir::load(data, index);
  return ir::add_compute(program, "pad", axes,
                         inside ? ir::select(inside, value, ir::zero_of(options.dtype)) : value);
}

}  // namespace attune::ops
