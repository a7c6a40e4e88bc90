#include "compiler/graph/frame.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::graph {
namespace {

std::int64_t extent_of(const std::vector<std::int64_t>& shape, std::pair<int, int> span) {
  std::int64_t extent = 1;
  for (int d = span.first; d < span.second; ++d) extent *= shape[static_cast<std::size_t>(d)];
  return extent;
}

// The operand's shape with ones in front, as many dimensions as the frame.
std::vector<std::int64_t> aligned(const Frame& frame, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> result(frame.shape.size() - shape.size(), 1);
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

}  // namespace

std::vector<ir::Expr> Frame::variables() const {
  std::vector<ir::Expr> result;
  for (const ir::Axis& axis : axes) result.push_back(ir::axis_var(axis));
  return result;
}

ir::Ranges Frame::ranges() const {
  ir::Ranges result;
  for (const ir::Axis& axis : axes) result = result.with_loop(axis.name, 0, axis.extent);
  return result;
}

Frame plain_frame(const std::vector<std::int64_t>& shape) {
  std::vector<std::pair<int, int>> spans;
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) spans.emplace_back(d, d + 1);
  return merged_frame(shape, spans);
}

Frame merged_frame(const std::vector<std::int64_t>& shape,
                   const std::vector<std::pair<int, int>>& spans,
                   const std::vector<std::string>& names) {
  Frame frame;
  frame.shape = shape;
  frame.spans = spans;
  frame.index.resize(shape.size(), ir::Expr(0));
  for (std::size_t a = 0; a < spans.size(); ++a) {
    const std::string name = names.empty() ? fmt::format("d{}", a) : names[a];
    frame.axes.push_back({name, extent_of(shape, spans[a])});
    ir::Expr rest = ir::axis_var(frame.axes.back());
    for (int d = spans[a].second - 1; d >= spans[a].first; --d) {
      const std::int64_t extent = shape[static_cast<std::size_t>(d)];
      const bool outermost = d == spans[a].first;
      frame.index[static_cast<std::size_t>(d)] = outermost ? rest : rest % ir::Expr(extent);
      if (!outermost) rest = rest / ir::Expr(extent);
    }
  }
  return frame;
}

Frame blocked_frame(const std::vector<std::int64_t>& shape, std::int64_t block,
                    const std::vector<std::string>& names) {
  CHECK(shape.size() == 3 || shape.size() == 4, "blocked tensors have three or four dimensions");
  const bool flat = shape.size() == 3;
  const std::int64_t rows = flat ? 1 : shape[2];
  Frame frame;
  frame.shape = shape;
  frame.block = block;
  frame.axes = {{names[0], shape[0]},
                {names[1], (shape[1] + block - 1) / block},
                {names[2], rows},
                {names[3], shape.back()},
                {names[4], block}};
  frame.index = {ir::var(names[0]), ir::var(names[1]) * ir::Expr(block) + ir::var(names[4])};
  if (!flat) frame.index.push_back(ir::var(names[2]));
  frame.index.push_back(ir::var(names[3]));
  return frame;
}

std::vector<std::int64_t> physical_shape(const TensorType& type, const Layout& layout) {
  if (!layout.is_blocked()) return type.shape;
  std::vector<std::int64_t> shape;
  for (const ir::Axis& axis : blocked_frame(type.shape, layout.block).axes) {
    shape.push_back(axis.extent);
  }
  return shape;
}

std::int64_t physical_bytes(const Value& value) {
  std::int64_t bytes = value.type.dtype.element_bytes();
  for (const std::int64_t extent : physical_shape(value.type, value.layout)) bytes *= extent;
  return bytes;
}

bool lies_plain(const Value& value) {
  if (!value.layout.is_blocked()) return true;
  const auto& shape = value.type.shape;
  return shape[1] % value.layout.block == 0 &&
         std::all_of(shape.begin() + 2, shape.end(), [](std::int64_t e) { return e == 1; });
}

std::optional<std::vector<std::int64_t>> shape_in_frame(const Frame& frame, const Value& operand) {
  if (operand.type.shape.size() > frame.shape.size()) return std::nullopt;
  const std::vector<std::int64_t> shape = aligned(frame, operand.type.shape);
  std::vector<std::int64_t> result;
  if (frame.block != 0) {
    if (operand.layout.block != frame.block || operand.type.shape.size() != frame.shape.size()) {
      return std::nullopt;
    }
    const auto physical = physical_shape(operand.type, operand.layout);
    for (std::size_t a = 0; a < frame.axes.size(); ++a) {
      if (physical[a] != frame.axes[a].extent && physical[a] != 1) return std::nullopt;
      result.push_back(physical[a]);
    }
    if (operand.type.shape[1] != frame.shape[1]) return std::nullopt;
    return result;
  }
  if (!lies_plain(operand)) return std::nullopt;
  for (const auto& span : frame.spans) {
    const std::int64_t full = extent_of(frame.shape, span);
    const std::int64_t own = extent_of(shape, span);
    if (own != full && own != 1) return std::nullopt;
    result.push_back(own);
  }
  return result;
}

ir::Expr read_element(const ir::Buffer& buffer, const Layout& layout,
                      const std::vector<ir::Expr>& index) {
  if (!layout.is_blocked()) return ir::load(buffer, index);
  const ir::Expr block(layout.block);
  std::vector<ir::Expr> place{index[0], index[1] / block};
  if (index.size() == 3) place.emplace_back(0);
  place.insert(place.end(), index.begin() + 2, index.end());
  place.push_back(index[1] % block);
  return ir::load(buffer, place);
}

ir::Expr guarded(const ir::Expr& value, const Frame& frame) {
  if (!frame.is_ragged()) return value;
  return ir::select(frame.index[1] < ir::Expr(frame.shape[1]), value, ir::zero_of(value.type()));
}

bool is_per_channel(const Value& value, const Frame& frame) {
  if (value.constant == nullptr || value.type.elements() != frame.shape[1]) return false;
  const std::size_t rank = value.type.shape.size();
  const std::size_t behind = frame.shape.size() - 2;  // dimensions behind the channels
  if (rank < behind + 1 || rank > frame.shape.size()) return false;
  return value.type.shape[rank - behind - 1] == frame.shape[1];
}

ir::Expr immediate(const Constant& constant) {
  const ir::DType type = constant.type.dtype;
  if (type.is_float()) return ir::float_imm(constant.real(0), type);
  return type.is_bool() ? ir::bool_imm(constant.integer(0) != 0)
                        : ir::int_imm(constant.integer(0), type);
}

}  // namespace attune::graph
