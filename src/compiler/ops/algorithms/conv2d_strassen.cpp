#include "compiler/ops/algorithms/conv2d_strassen.h"

#include "compiler/ops/algorithms/strassen.h"
#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

bool has_one_tap(const Window& window) {
  return window.kernel == 1 && window.stride == 1 && window.pad_before == 0 &&
         window.pad_after == 0;
}

bool applies(const Conv2dOptions& options) {
  constexpr std::int64_t kFewestPixels = 32, kFewestChannels = 64;
  return has_one_tap(options.h) && has_one_tap(options.w) && options.n == 1 &&
         options.groups == 1 && options.dtype == ir::kF32 &&
         options.ic % (2 * options.block) == 0 && options.oc % (2 * options.block) == 0 &&
         options.h.size * options.w.size >= kFewestPixels && options.ic >= kFewestChannels &&
         options.oc >= kFewestChannels;
}

Result<AlgorithmDef> build(const Conv2dOptions& options) {
  // What does not fit into memory directly is refused in the direct form's words.
  ATTUNE_ASSIGN(const ir::Program direct, build_conv2d(options));
  ir::Program program{direct.name, {}, {}, {}};
  const Conv2dInputs inputs = add_conv2d_inputs(program, options);
  const ir::Expr block = options.block, width = options.w.size;
  const std::int64_t pixels = options.h.size * options.w.size;
  const MatmulOptions quarter{
      .m = ceil_div(pixels, 2), .n = options.oc / 2, .k = options.ic / 2, .dtype = options.dtype};
  const auto data = [&](const ir::Expr& pixel, const ir::Expr& channel) {
    const ir::Expr value =
        ir::load(inputs.data, {0, channel / block, pixel / width, pixel % width, channel % block});
    if (pixels % 2 == 0) return value;
    return ir::select(pixel < ir::Expr(pixels), value, ir::zero_of(options.dtype));
  };
  const auto weight = [&](const ir::Expr& in, const ir::Expr& out) {
    return ir::load(inputs.weight, {out, in, 0, 0});
  };
  const ir::Buffer result = add_seven_products(program, quarter, data, weight);
  const ir::Expr pixel = ir::var("oh") * width + ir::var("ow");
  const ir::Expr channel = ir::var("oc") * block + ir::var("ob");
  const ir::Expr m = quarter.m, n = quarter.n;
  program.outputs = {
      ir::add_compute(program, "output", conv2d_output_axes(options),
                      ir::load(result, {pixel / m, pixel % m, channel / n, channel % n}))};
  ATTUNE_ASSIGN(program, check_memory(std::move(program)));
  return AlgorithmDef{"strassen", std::move(program), 2 * tolerance_of(options.dtype), true};
}

}  // namespace

Conv2dAlgorithm conv2d_strassen_algorithm() {
  return {"strassen",
          "one tap, one image of f32, and at least 64 channels in an even number of blocks",
          applies, build};
}

}  // namespace attune::ops
