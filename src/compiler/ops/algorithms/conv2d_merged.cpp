#include "compiler/ops/algorithms/conv2d_merged.h"

#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

// [oc and ic of a merged group in whole blocks, kh, kw], zero between groups and beyond the
// channels.
ir::Buffer add_filter(ir::Program& program, const Conv2dOptions& options,
                      const Conv2dOptions& merged, const ir::Buffer& weight) {
  const std::int64_t inputs = options.channels().ic_per_group();
  const std::int64_t outputs = options.channels().oc_per_group();
  const ChannelCut cut = merged.cut();
  const std::vector<ir::Axis> axes{{"oc", merged.channels().oc_blocks() * merged.block},
                                   {"ic", cut.blocks * cut.lanes},
                                   {"kh", options.h.kernel},
                                   {"kw", options.w.kernel}};
  const ir::Expr oc = ir::axis_var(axes[0]), ic = ir::axis_var(axes[1]);
  const ir::Expr group = oc / ir::Expr(outputs) % ir::Expr(groups_to_merge(options));
  ir::Expr value = ir::load(weight, {oc, ic % ir::Expr(inputs), ir::var("kh"), ir::var("kw")});
  value = ir::select(ic / ir::Expr(inputs) == group, value, ir::zero_of(options.dtype));
  if (axes[0].extent != options.oc) {
    value = ir::select(oc < ir::Expr(options.oc), value, ir::zero_of(options.dtype));
  }
  return ir::add_compute(program, "filter", axes, value);
}

}  // namespace

std::int64_t groups_to_merge(const Conv2dOptions& options) {
  const Channels channels = options.channels();
  const std::int64_t block = options.block;
  const auto whole = [&](std::int64_t count) {
    return channels.ic_per_group() * count % block == 0 &&
           channels.oc_per_group() * count % block == 0;
  };
  for (std::int64_t count = 1; count <= std::min(block, options.groups); ++count) {
    if (options.groups % count == 0 && (whole(count) || count == options.groups)) return count;
  }
  return 1;
}

Result<ir::Program> build_conv2d_merged(const Conv2dOptions& options) {
  // What does not fit into memory directly is refused in the direct form's words.
  ATTUNE_ASSIGN(const ir::Program direct, build_conv2d(options));
  ir::Program program{direct.name, {}, {}, {}};
  Conv2dOptions merged = options;
  merged.groups /= groups_to_merge(options);
  const Conv2dInputs inputs = add_conv2d_inputs(program, options);
  const ir::Buffer filter = add_filter(program, options, merged, inputs.weight);
  const ir::Buffer input = add_conv2d_pad(program, options, inputs.data);
  add_conv2d_products(program, merged, input, filter);
  return check_memory(std::move(program));
}

Conv2dAlgorithm conv2d_merged_algorithm() {
  return {"merged", "groups that are parts of a block, a few of which make whole ones",
          [](const Conv2dOptions& options) {
            return options.groups > 1 && options.ic > 4 && groups_to_merge(options) > 1;
          },
          [](const Conv2dOptions& options) -> Result<AlgorithmDef> {
            ATTUNE_ASSIGN(ir::Program program, build_conv2d_merged(options));
            return AlgorithmDef{"merged", std::move(program), tolerance_of(options.dtype)};
          }};
}

}  // namespace attune::ops
