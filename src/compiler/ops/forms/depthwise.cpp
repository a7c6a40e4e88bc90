#include "compiler/ops/forms/depthwise.h"

#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

ir::Buffer add_filter(ir::Program& program, const DepthwiseOptions& options,
                      const ir::Buffer& weight) {
  const std::int64_t channels = round_up(options.c, options.block);
  const std::vector<ir::Axis> axes{
      {"c", channels}, {"kh", options.h.kernel}, {"kw", options.w.kernel}};
  const ir::Expr c = ir::var("c");
  ir::Expr value = ir::load(weight, {c, 0, ir::var("kh"), ir::var("kw")});
  if (channels != options.c) {
    value = ir::select(c < ir::Expr(options.c), value, ir::zero_of(options.dtype));
  }
  return ir::add_compute(program, "filter", axes, value);
}

}  // namespace

Status validate(const DepthwiseOptions& options) {
  const NamedSize sizes[] = {{"n", options.n}, {"c", options.c}, {"block", options.block}};
  ATTUNE_RETURN_IF_ERROR(check_sizes(sizes));
  ATTUNE_RETURN_IF_ERROR(check_window("h", "k", options.h));
  ATTUNE_RETURN_IF_ERROR(check_window("w", "kw", options.w));
  return check_dtype("depthwise", options.dtype, kProductTypes);
}

double flops(const DepthwiseOptions& options) {
  double count = 2;
  for (std::int64_t extent : {options.n, options.c, options.h.positions(), options.w.positions(),
                              options.h.kernel, options.w.kernel}) {
    count *= static_cast<double>(extent);
  }
  return count;
}

Result<ir::Program> build_depthwise(const DepthwiseOptions& options) {
  ATTUNE_RETURN_IF_ERROR(validate(options));
  const std::int64_t blocks = ceil_div(options.c, options.block);
  ir::Program program{"depthwise", {}, {}, {}};
  const ir::Buffer data =
      ir::add_input(program, "data", options.dtype,
                    {options.n, blocks, options.h.size, options.w.size, options.block});
  const ir::Buffer weight = ir::add_input(program, "weight", options.dtype,
                                          {options.c, 1, options.h.kernel, options.w.kernel}, true);
  const ir::Buffer filter = add_filter(program, options, weight);
  const ir::Buffer input = add_border(
      program, data, {"n", "c", "ih", "iw", "cb"},
      {options.h.pad_before, options.h.pad_after, options.w.pad_before, options.w.pad_after},
      ir::zero_of(options.dtype));

  const std::vector<ir::Axis> axes{{"n", options.n},
                                   {"c", blocks},
                                   {"oh", options.h.positions()},
                                   {"ow", options.w.positions()},
                                   {"cb", options.block}};
  const ir::Expr cb = ir::var("cb");
  const ir::Expr channel = ir::var("c") * ir::Expr(options.block) + cb;
  const ir::Expr value =
      product(ir::load(input, {ir::var("n"), ir::var("c"), tap("oh", "kh", options.h),
                               tap("ow", "kw", options.w), cb}),
              ir::load(filter, {channel, ir::var("kh"), ir::var("kw")}));
  const ir::Buffer anchor =
      ir::add_reduce(program, "anchor", axes, {{"kh", options.h.kernel}, {"kw", options.w.kernel}},
                     ir::Reduction::Sum, value);
  add_output(program, anchor, axes, result_of(options.dtype));
  return check_memory(std::move(program));
}

namespace {

SpecGraph graph_of(const Arguments& arguments) {
  const Window h = rows_of(arguments, "k"), w = columns_of(arguments);
  const std::int64_t channels = arguments.number("c");
  // A single channel is a convolution like any other, and read as it comes.
  SpecNode conv{"conv",
                {{.name = "data",
                  .shape = {arguments.number("n"), channels, h.size, w.size},
                  .blocked = channels > 1},
                 {.name = "weight", .shape = {channels, 1, h.kernel, w.kernel}, .constant = true}},
                window_attributes(h, w)};
  conv.attributes["group"] = channels;
  return {{std::move(conv)}, true};
}

}  // namespace

Family depthwise_family() {
  return {"depthwise",
          {{"n", KeyKind::Number, "1"},
           {"h"},
           {"w"},
           {"c"},
           {"k"},
           {"kw", KeyKind::Number, "=k"},
           {"stride", KeyKind::Number, "1"},
           {"stride_w", KeyKind::Number, "=stride"},
           {"pad", KeyKind::Number, "=k/2"},
           {"pad_w", KeyKind::Number, "=pad"},
           {"pad_bottom", KeyKind::Number, "=pad"},
           {"pad_right", KeyKind::Number, "=pad_w"},
           {"dilation", KeyKind::Number, "1"},
           {"dilation_w", KeyKind::Number, "=dilation"}},
          [](const Arguments& arguments) -> Result<Operator> {
            const DepthwiseOptions options{.n = arguments.number("n"),
                                           .c = arguments.number("c"),
                                           .h = rows_of(arguments, "k"),
                                           .w = columns_of(arguments),
                                           .block = arguments.block,
                                           .dtype = arguments.dtype};
            ATTUNE_ASSIGN(ir::Program program, build_depthwise(options));
            return Operator{.program = std::move(program),
                            .flops = flops(options),
                            .tolerance = tolerance_of(options.dtype),
                            .blocked = {{"data", options.c}, {"output", options.c}}};
          },
          graph_of};
}

}  // namespace attune::ops
