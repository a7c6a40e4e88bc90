#include "tuner/logs/anchor_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/linear.h"
#include "compiler/ir/text/parse.h"
#include "tuner/logs/adapt.h"

namespace attune::logs {
namespace {

using Shape = std::vector<std::int64_t>;

// Definitions may come from anywhere: sizes that no layer has are none of an operator's.
constexpr std::int64_t kLargest = std::int64_t{1} << 20;

bool is_sane(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(),
                     [](std::int64_t extent) { return extent > 0 && extent <= kLargest; });
}

const Shape* input_shape(const ir::Program& program, std::string_view name) {
  for (const ir::Input& input : program.inputs) {
    if (input.buffer->name == name && is_sane(input.buffer->shape)) return &input.buffer->shape;
  }
  return nullptr;
}

std::int64_t extent_of(const ir::Stage& stage, std::string_view name) {
  for (const auto* axes : {&stage.axes, &stage.reduce_axes}) {
    for (const ir::Axis& axis : *axes) {
      if (axis.name == name) return axis.extent;
    }
  }
  return 0;
}

// The first load of a stage that is not of the filter.
const ir::Load* image_load(const ir::Stage& stage) {
  const ir::Load* found = nullptr;
  ir::visit(stage.values[0], [&](const ir::Expr& e) {
    const auto* load = std::get_if<ir::Load>(&e->kind);
    if (load && !found && load->buffer->name != "filter") found = load;
  });
  return found;
}

// How far an index is moved towards the beginning.
std::optional<std::int64_t> shift_of(const ir::Expr& index) {
  const auto linear = ir::linear_of(index);
  if (!linear || linear->constant > 0 || linear->constant < -kLargest) return std::nullopt;
  return -linear->constant;
}

// An image [n, c/b, h, w, b] or [n, c, h, w] and how the anchor's window moves over it.
struct Window {
  std::int64_t n = 1, c = 0, h = 0, w = 0;
  std::int64_t stride = 1, stride_w = 1, dilation = 1, dilation_w = 1;
  std::int64_t top = 0, left = 0, bottom = 0, right = 0;

  std::string text() const {
    return fmt::format(
        "stride={},stride_w={},dilation={},dilation_w={},pad={},pad_w={},pad_bottom={},"
        "pad_right={}",
        stride, stride_w, dilation, dilation_w, top, left, bottom, right);
  }
};

std::optional<Window> window_of(const ir::Program& program) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  const ir::Load* load = image_load(anchor);
  if (!load || load->index.size() < 4) return std::nullopt;
  const auto row = ir::linear_of(load->index[2]), column = ir::linear_of(load->index[3]);
  if (!row || !column) return std::nullopt;
  Window window{.stride = row->coefficient("oh"),
                .stride_w = column->coefficient("ow"),
                .dilation = row->coefficient("kh"),
                .dilation_w = column->coefficient("kw")};
  const Shape* image = &load->buffer->shape;
  if (const ir::Stage* pad = program.find_stage("pad")) {
    const ir::Load* inner = image_load(*pad);
    if (!inner || inner->index.size() != image->size()) return std::nullopt;
    const auto top = shift_of(inner->index[2]), left = shift_of(inner->index[3]);
    const Shape& padded = *image;
    image = &inner->buffer->shape;
    if (!top || !left || !is_sane(padded) || !is_sane(*image)) return std::nullopt;
    window.top = *top;
    window.left = *left;
    window.bottom = padded[2] - (*image)[2] - window.top;
    window.right = padded[3] - (*image)[3] - window.left;
  }
  if (!is_sane(*image)) return std::nullopt;
  window.n = (*image)[0];
  window.c = (*image)[1] * (image->size() == 5 ? (*image)[4] : 1);
  window.h = (*image)[2];
  window.w = (*image)[3];
  return window;
}

// Specs of which one may be the operator; the caller sees which.
using Specs = std::vector<std::string>;

Specs conv2d_specs(const ir::Program& program, const Shape& weight, const std::string& type) {
  const auto window = window_of(program);
  if (!window || weight.size() != 4) return {};
  // Blocks of channels may be filled up; groups are whole.
  const std::int64_t groups = std::max<std::int64_t>(1, window->c / weight[1]);
  Specs specs;
  for (const std::int64_t count : {std::int64_t{1}, groups}) {
    specs.push_back(
        fmt::format("conv2d:n={},h={},w={},ic={},oc={},kh={},kw={},{},groups={},dtype={}",
                    window->n, window->h, window->w, weight[1] * count, weight[0], weight[2],
                    weight[3], window->text(), count, type));
  }
  return specs;
}

Specs depthwise_specs(const ir::Program& program, const Shape& weight, const std::string& type) {
  const auto window = window_of(program);
  if (!window || weight.size() != 4) return {};
  return {fmt::format("depthwise:n={},h={},w={},c={},k={},kw={},{},dtype={}", window->n, window->h,
                      window->w, weight[0], weight[2], weight[3], window->text(), type)};
}

// Strides are the numbers of phases; padding is not seen in the program, but there are few that
// give the output its size.
Specs transposed_specs(const ir::Program& program, const Shape& weight, const std::string& type) {
  const Shape* data = input_shape(program, "data");
  const ir::Stage& anchor = *program.find_stage("anchor");
  constexpr std::int64_t kLargestKernel = 32;
  if (!data || data->size() != 5 || weight.size() != 4) return {};
  if (weight[2] > kLargestKernel || weight[3] > kLargestKernel) return {};
  const std::int64_t phases = extent_of(anchor, "ph"), phases_w = extent_of(anchor, "pw");
  const bool phased = phases > 0 && phases_w > 0;
  const std::int64_t stride = phased ? phases : 1, stride_w = phased ? phases_w : 1;
  const std::int64_t height = phased ? phases * extent_of(anchor, "y") : extent_of(anchor, "oh");
  const std::int64_t width = phased ? phases_w * extent_of(anchor, "x") : extent_of(anchor, "ow");
  Specs specs;
  for (std::int64_t pad = 0; pad < weight[2]; ++pad) {
    for (std::int64_t pad_w = 0; pad_w < weight[3]; ++pad_w) {
      const std::int64_t extra = height - (((*data)[2] - 1) * stride + weight[2] - 2 * pad);
      const std::int64_t extra_w = width - (((*data)[3] - 1) * stride_w + weight[3] - 2 * pad_w);
      if (extra < 0 || extra >= stride || extra_w < 0 || extra_w >= stride_w) continue;
      specs.push_back(fmt::format(
          "conv2d_transpose:n={},h={},w={},ic={},oc={},kh={},kw={},stride={},stride_w={},pad={},"
          "pad_w={},output_pad={},output_pad_w={},dtype={}",
          (*data)[0], (*data)[2], (*data)[3], weight[0], weight[1], weight[2], weight[3], stride,
          stride_w, pad, pad_w, extra, extra_w, type));
    }
  }
  return specs;
}

Specs product_specs(const ir::Program& program, const std::string& type) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  const std::string sizes = fmt::format("m={},n={},k={},dtype={}", extent_of(anchor, "i"),
                                        extent_of(anchor, "j"), extent_of(anchor, "k"), type);
  if (program.name != "batch_matmul") return {program.name + ":" + sizes};
  return {fmt::format("batch_matmul:b={},{}", extent_of(anchor, "b"), sizes)};
}

Specs specs_of(const ir::Program& program) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  const ir::Load* load = image_load(anchor);
  if (!load) return {};
  const std::string type = ir::to_string(load->buffer->type);
  const std::string& name = program.name;
  if (name == "dense" || name == "matmul" || name == "batch_matmul") {
    return product_specs(program, type);
  }
  const Shape* weight = input_shape(program, "weight");
  if (!weight) return {};
  if (name == "conv2d") return conv2d_specs(program, *weight, type);
  if (name == "depthwise") return depthwise_specs(program, *weight, type);
  if (name == "conv2d_transpose") return transposed_specs(program, *weight, type);
  return {};
}

}  // namespace

std::variant<op_spec::OpTask, Unmapped> anchor_task(const records::TaskDefinition& fused,
                                                    const target::Target& target) {
  op_spec::OpTask task;
  task.key = fused.key;
  task.algorithm = "auto";
  bool direct = false;
  for (const records::TaskDefinition::Program& each : fused.programs) {
    Result<ir::Program> program = ir::parse_program(each.text);
    if (!program.ok() || !ir::verify(*program).ok()) continue;
    if (each.algorithm == "direct") {
      task.program = std::move(*program);
      direct = true;
    } else {
      task.alternatives.push_back({each.algorithm, std::move(*program), each.tolerance});
    }
  }
  if (!direct) return Unmapped{"its task is defined differently in this version"};
  if (task.program.find_stage("before.anchor")) {
    return Unmapped{"AutoTVM has no task for two operators in one"};
  }
  const std::string wanted = anchor_key(task.program);
  const Specs specs = wanted.empty() ? Specs() : specs_of(task.program);
  if (specs.empty()) return Unmapped{fmt::format("AutoTVM has no task for {}", task.program.name)};
  for (const std::string& spec : specs) {
    Result<op_spec::OpTask> alone = op_spec::parse_op_spec(spec, target);
    if (!alone.ok() || anchor_key(alone->program) != wanted) continue;
    task.spec = alone->spec;
    task.family = alone->family;
    return task;
  }
  return Unmapped{
      fmt::format("the {} that it is built around is none by itself", task.program.name)};
}

}  // namespace attune::logs
