// Sliding windows over images: the geometry of convolution and pooling in one spatial dimension,
// blocks of channels, and the stage that puts a border around the input.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/ops/forms/family.h"

namespace attune::ops {

struct Window {
  std::int64_t size = 1;  // of the input
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t pad_before = 0;
  std::int64_t pad_after = 0;
  std::int64_t dilation = 1;

  std::int64_t padded() const { return size + pad_before + pad_after; }
  // Input elements from the first tap to the last.
  std::int64_t span() const { return (kernel - 1) * dilation + 1; }
  // Positions of the window.
  std::int64_t positions() const { return (padded() - span()) / stride + 1; }
};

// Sizes in range; `size` and `kernel` are the keys by which the user knows them.
Status check_window_sizes(std::string_view size, std::string_view kernel, const Window& window);
// The same, and the kernel fits into the padded input at least once.
Status check_window(std::string_view size, std::string_view kernel, const Window& window);

// The input position of tap `kernel` in window `position`, both names of axes.
ir::Expr tap(const char* position, const char* kernel, const Window& window);
// index * factor, without a multiplication by one.
ir::Expr scaled(const ir::Expr& index, std::int64_t factor);

// Elements added around the dimensions 2 and 3 of a tensor; negative ones are cut off.
struct Border {
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;
};

// Appends the stage `pad`, data[n, c, h, w, …] within the border and `fill` in it; `names` are its
// axes. Returns `data` itself when there is no border.
ir::Buffer add_border(ir::Program& program, const ir::Buffer& data,
                      const std::vector<std::string>& names, const Border& border, ir::Expr fill);

// What the spec of a convolution says about its rows and columns; `kernel_h` is the key of the
// kernel's height. The other keys are h, w, kw, stride, pad and dilation, by direction.
Window rows_of(const Arguments& arguments, std::string_view kernel_h);
Window columns_of(const Arguments& arguments);
// The attributes of a convolution or pool with these windows.
Attributes window_attributes(const Window& h, const Window& w);

}  // namespace attune::ops
