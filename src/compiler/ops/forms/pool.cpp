#include "compiler/ops/forms/pool.h"

#include <fmt/format.h>

#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

// Every window holds at least one element of the image.
Status check_cover(const Window& window) {
  const std::int64_t last = (window.positions() - 1) * window.stride;
  if (window.pad_before < window.span() && last < window.pad_before + window.size) return {};
  return invalid(fmt::format("padding {}+{} leaves windows of {} without any input",
                             window.pad_before, window.pad_after, window.span()),
                 "choose less padding than the kernel");
}

// How many taps of a window lie inside the image.
ir::Expr taps_inside(const Window& window, const char* position) {
  const ir::Expr start = scaled(ir::var(position), window.stride) - ir::Expr(window.pad_before);
  return ir::min(start + ir::Expr(window.kernel), ir::Expr(window.size)) -
         ir::max(start, ir::Expr(0));
}

ir::Expr average(const PoolOptions& options, const ir::Expr& sum) {
  const bool bordered =
      options.h.padded() != options.h.size || options.w.padded() != options.w.size;
  if (options.count_include_pad || !bordered) {
    const std::int64_t taps = options.h.kernel * options.w.kernel;
    return sum * ir::float_imm(1.0 / static_cast<double>(taps), sum.type());
  }
  return sum / ir::cast(sum.type(), taps_inside(options.h, "oh") * taps_inside(options.w, "ow"));
}

PoolOptions options_from(PoolKind kind, const Arguments& arguments) {
  const Window window{.kernel = arguments.number("k"),
                      .stride = arguments.number("stride"),
                      .pad_before = arguments.number("pad"),
                      .pad_after = arguments.number("pad")};
  PoolOptions options{.kind = kind,
                      .n = arguments.number("n"),
                      .c = arguments.number("c"),
                      .h = window,
                      .w = window,
                      .block = arguments.block,
                      .dtype = arguments.dtype};
  options.h.size = arguments.number("h");
  options.w.size = arguments.number("w");
  return options;
}

Result<Operator> as_operator(const PoolOptions& options) {
  ATTUNE_ASSIGN(ir::Program program, build_pool(options));
  return Operator{.program = std::move(program),
                  .flops = flops(options),
                  .tolerance = options.kind == PoolKind::Max ? 0 : tolerance_of(options.dtype),
                  .blocked = {{"data", options.c}, {"output", options.c}}};
}

std::vector<Key> pool_keys() {
  return {
      {"n", KeyKind::Number, "1"},  {"h"}, {"w"}, {"c"}, {"k"}, {"stride", KeyKind::Number, "=k"},
      {"pad", KeyKind::Number, "0"}};
}

}  // namespace

Status validate(const PoolOptions& options) {
  const NamedSize sizes[] = {{"n", options.n}, {"c", options.c}, {"block", options.block}};
  ATTUNE_RETURN_IF_ERROR(check_sizes(sizes));
  ATTUNE_RETURN_IF_ERROR(check_window("h", "k", options.h));
  ATTUNE_RETURN_IF_ERROR(check_window("w", "k", options.w));
  ATTUNE_RETURN_IF_ERROR(check_cover(options.h));
  ATTUNE_RETURN_IF_ERROR(check_cover(options.w));
  if (options.kind == PoolKind::Max) return check_dtype("maxpool", options.dtype, kProductTypes);
  if (options.h.dilation != 1 || options.w.dilation != 1) {
    return unsupported("avgpool has no dilation");
  }
  return check_dtype("avgpool", options.dtype, kFloatTypes);
}

double flops(const PoolOptions& options) {
  double count = 1;
  for (std::int64_t extent : {options.n, options.c, options.h.positions(), options.w.positions(),
                              options.h.kernel, options.w.kernel}) {
    count *= static_cast<double>(extent);
  }
  return count;
}

Result<ir::Program> build_pool(const PoolOptions& options) {
  ATTUNE_RETURN_IF_ERROR(validate(options));
  const bool is_max = options.kind == PoolKind::Max;
  const ir::Reduction reduction = is_max ? ir::Reduction::Max : ir::Reduction::Sum;
  const std::int64_t blocks = ceil_div(options.c, options.block);
  ir::Program program{is_max ? "maxpool" : "avgpool", {}, {}, {}};
  const ir::Buffer data =
      ir::add_input(program, "data", options.dtype,
                    {options.n, blocks, options.h.size, options.w.size, options.block});
  const ir::Buffer input = add_border(
      program, data, {"n", "c", "ih", "iw", "cb"},
      {options.h.pad_before, options.h.pad_after, options.w.pad_before, options.w.pad_after},
      ir::identity_of(reduction, options.dtype));

  const std::vector<ir::Axis> axes{{"n", options.n},
                                   {"c", blocks},
                                   {"oh", options.h.positions()},
                                   {"ow", options.w.positions()},
                                   {"cb", options.block}};
  const ir::DType type = options.dtype.is_float() ? ir::kF32 : options.dtype;
  const ir::Expr element = ir::load(input, {ir::var("n"), ir::var("c"), tap("oh", "kh", options.h),
                                            tap("ow", "kw", options.w), ir::var("cb")});
  const ir::Buffer anchor =
      ir::add_reduce(program, "anchor", axes, {{"kh", options.h.kernel}, {"kw", options.w.kernel}},
                     reduction, ir::cast(type, element));
  if (is_max) {
    add_output(program, anchor, axes, options.dtype);
  } else {
    const ir::Expr mean = average(options, ir::load(anchor, index_of(axes)));
    program.outputs = {ir::add_compute(program, "output", axes, ir::cast(options.dtype, mean))};
  }
  return check_memory(std::move(program));
}

namespace {

SpecNode pool_node(const char* op, const PoolOptions& options) {
  return {op,
          {{.name = "data",
            .shape = {options.n, options.c, options.h.size, options.w.size},
            .blocked = true}},
          window_attributes(options.h, options.w)};
}

SpecGraph maxpool_graph(const Arguments& arguments) {
  return {{pool_node("max_pool", options_from(PoolKind::Max, arguments))}, true};
}

SpecGraph avgpool_graph(const Arguments& arguments) {
  const PoolOptions options = options_from(PoolKind::Average, arguments);
  const bool include = arguments.word("include_pad") == "yes";
  SpecNode pool = pool_node("average_pool", options);
  pool.attributes["count_include_pad"] = std::int64_t{include};
  pool.attributes["counted_pads"] =
      std::vector<std::int64_t>(4, include ? options.h.pad_before : 0);
  return {{std::move(pool)}, true};
}

}  // namespace

Family maxpool_family() {
  return {"maxpool", pool_keys(),
          [](const Arguments& arguments) {
            return as_operator(options_from(PoolKind::Max, arguments));
          },
          maxpool_graph};
}

Family avgpool_family() {
  std::vector<Key> keys = pool_keys();
  keys.push_back({"include_pad", KeyKind::Word, "no", {"no", "yes"}});
  return {"avgpool", keys,
          [](const Arguments& arguments) {
            PoolOptions options = options_from(PoolKind::Average, arguments);
            options.count_include_pad = arguments.word("include_pad") == "yes";
            return as_operator(options);
          },
          avgpool_graph};
}

}  // namespace attune::ops
