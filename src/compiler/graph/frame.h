// Frames: how the elements of a tensor are enumerated by the loops of a stage. A stage's axes need
// not be the dimensions of the tensor: blocked activations have one more, matrices run over merged
// leading dimensions, elementwise chains over as few axes as possible. A frame knows its axes and,
// in terms of them, the logical index of the element.
#pragma once

#include <optional>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/ir/simplify/simplify.h"

namespace attune::graph {

struct Frame {
  std::vector<ir::Axis> axes;
  std::vector<ir::Expr> index;      // logical, one expression per dimension
  std::vector<std::int64_t> shape;  // logical
  // Plain frames: the dimensions [first, last) that each axis runs over. Empty for blocked ones.
  std::vector<std::pair<int, int>> spans;
  std::int64_t block = 0;

  // Whether some axis values stand for no element (lanes beyond the last channel).
  bool is_ragged() const { return block != 0 && shape[1] % block != 0; }
  std::vector<ir::Expr> variables() const;
  ir::Ranges ranges() const;
};

// One axis per dimension, named d0, d1, …
Frame plain_frame(const std::vector<std::int64_t>& shape);
// Axes over spans of dimensions, with these names.
Frame merged_frame(const std::vector<std::int64_t>& shape,
                   const std::vector<std::pair<int, int>>& spans,
                   const std::vector<std::string>& names = {});
// n, channel blocks, rows, columns, lane; rows are one for a tensor with three dimensions.
Frame blocked_frame(const std::vector<std::int64_t>& shape, std::int64_t block,
                    const std::vector<std::string>& names = {"n", "c", "h", "w", "b"});

// How a value lies in memory: its shape, or [n, c / B, spatial…, B].
std::vector<std::int64_t> physical_shape(const TensorType& type, const Layout& layout);
std::int64_t physical_bytes(const Value& value);
// Whether the bytes are the row-major elements: always for plain values, and for blocked ones
// without rows and columns.
bool lies_plain(const Value& value);

// A buffer shape in which an operand can be read by the axes of the frame themselves: extents of
// the axes, 1 where it broadcasts. Nothing when it does not line up with them.
std::optional<std::vector<std::int64_t>> shape_in_frame(const Frame& frame, const Value& operand);

// The element of `buffer`, which holds a value with this type and layout, at a logical index.
ir::Expr read_element(const ir::Buffer& buffer, const Layout& layout,
                      const std::vector<ir::Expr>& index);

// `value`, or zero in lanes of the frame that stand for no element.
ir::Expr guarded(const ir::Expr& value, const Frame& frame);
// Whether a value is a constant with one element per channel of the frame.
bool is_per_channel(const Value& value, const Frame& frame);
// The first element of a constant.
ir::Expr immediate(const Constant& constant);

}  // namespace attune::graph
