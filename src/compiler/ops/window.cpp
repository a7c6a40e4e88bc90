#include "compiler/ops/window.h"

#include <fmt/format.h>

#include "compiler/ops/limits.h"
#include "compiler/ops/operator.h"

namespace attune::ops {
namespace {

// Narrows `condition` (empty at first) by `more`.
void require(ir::Expr& condition, const ir::Expr& more) {
  condition = condition ? condition && more : more;
}

}  // namespace

Status check_window_sizes(std::string_view size, std::string_view kernel, const Window& window) {
  const NamedSize sizes[] = {{size, window.size},          {kernel, window.kernel},
                             {"stride", window.stride},    {"pad", window.pad_before, 0},
                             {"pad", window.pad_after, 0}, {"dilation", window.dilation}};
  return check_sizes(sizes);
}

Status check_window(std::string_view size, std::string_view kernel, const Window& window) {
  ATTUNE_RETURN_IF_ERROR(check_window_sizes(size, kernel, window));
  if (window.span() <= window.padded()) return {};
  return invalid(fmt::format("the kernel spans {} elements ({}={}, dilation={}), the padded input "
                             "only {} ({}={}, pad={}+{})",
                             window.span(), kernel, window.kernel, window.dilation, window.padded(),
                             size, window.size, window.pad_before, window.pad_after),
                 "choose a smaller kernel or more padding");
}

ir::Expr scaled(const ir::Expr& index, std::int64_t factor) {
  return factor == 1 ? index : index * ir::Expr(factor);
}

ir::Expr tap(const char* position, const char* kernel, const Window& window) {
  return scaled(ir::var(position), window.stride) + scaled(ir::var(kernel), window.dilation);
}

ir::Buffer add_border(ir::Program& program, const ir::Buffer& data,
                      const std::vector<std::string>& names, const Border& border, ir::Expr fill) {
  if (border.top == 0 && border.bottom == 0 && border.left == 0 && border.right == 0) return data;
  std::vector<ir::Axis> axes;
  for (std::size_t i = 0; i < names.size(); ++i) axes.push_back({names[i], data->shape[i]});
  axes[2].extent += border.top + border.bottom;
  axes[3].extent += border.left + border.right;

  std::vector<ir::Expr> index = index_of(axes);
  ir::Expr inside;
  const auto shift = [&](std::size_t dimension, std::int64_t before, std::int64_t after) {
    const ir::Expr position = index[dimension];
    if (before > 0) require(inside, position >= ir::Expr(before));
    if (after > 0) require(inside, position < ir::Expr(before + data->shape[dimension]));
    if (before != 0) index[dimension] = position - ir::Expr(before);
  };
  shift(2, border.top, border.bottom);
  shift(3, border.left, border.right);
  const ir::Expr value = ir::load(data, index);
  return ir::add_compute(program, "pad", axes, inside ? ir::select(inside, value, fill) : value);
}

Window rows_of(const Arguments& arguments, std::string_view kernel_h) {
  return {.size = arguments.number("h"),
          .kernel = arguments.number(kernel_h),
          .stride = arguments.number("stride"),
          .pad_before = arguments.number("pad"),
          .pad_after = arguments.number("pad_bottom"),
          .dilation = arguments.number("dilation")};
}

Window columns_of(const Arguments& arguments) {
  return {.size = arguments.number("w"),
          .kernel = arguments.number("kw"),
          .stride = arguments.number("stride_w"),
          .pad_before = arguments.number("pad_w"),
          .pad_after = arguments.number("pad_right"),
          .dilation = arguments.number("dilation_w")};
}

Attributes window_attributes(const Window& h, const Window& w) {
  using Pair = std::vector<std::int64_t>;
  return {{"kernel_shape", Pair{h.kernel, w.kernel}},
          {"strides", Pair{h.stride, w.stride}},
          {"pads", Pair{h.pad_before, w.pad_before, h.pad_after, w.pad_after}},
          {"dilations", Pair{h.dilation, w.dilation}}};
}

}  // namespace attune::ops
