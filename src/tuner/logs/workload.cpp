#include "tuner/logs/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/read_json.h"
#include "tuner/logs/workload_arguments.h"

namespace attune::logs {
namespace {

using Mapped = std::variant<Workload, Unmapped>;

// The task's name without its library of origin in front and its device behind:
// "topi_x86_conv2d_NCHWc" and "conv2d_NCHWc.x86" are "conv2d_NCHWc".
std::string_view operator_of(std::string_view task) {
  task = task.substr(0, task.rfind('.'));
  for (const std::string_view origin :
       {"topi_nn_", "topi_x86_", "topi_arm_cpu_", "topi_cuda_", "topi_generic_", "topi_", "nn."}) {
    if (task.starts_with(origin)) task.remove_prefix(origin.size());
  }
  return task;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Unmapped unsupported_operator(const LogRecord& record) {
  return {fmt::format("operator {} is not supported", record.task)};
}

// Three words: where the operator's dimensions are.
enum class Layout { Nchw, Nhwc, Hwcn };

Layout layout_of(std::string_view name, const Arguments& arguments) {
  std::string_view text = name;
  const bool bare = name == "conv2d" || name == "depthwise_conv2d" || name == "group_conv2d" ||
                    name == "conv2d_transpose";
  if (bare) {
    if (const auto word = arguments.layout()) text = *word;
  }
  if (contains(text, "nhwc") || contains(text, "NHWC")) return Layout::Nhwc;
  if (contains(text, "hwcn") || contains(text, "HWCN")) return Layout::Hwcn;
  return Layout::Nchw;
}

struct Image {
  std::int64_t n, c, h, w;
};

std::optional<Image> image_of(const std::vector<std::int64_t>& shape, Layout layout) {
  // In blocks of channels: [n, c/b, h, w, b].
  if (layout == Layout::Nchw && shape.size() == 5) {
    return Image{shape[0], shape[1] * shape[4], shape[2], shape[3]};
  }
  if (shape.size() != 4) return std::nullopt;
  if (layout == Layout::Nhwc) return Image{shape[0], shape[3], shape[1], shape[2]};
  if (layout == Layout::Hwcn) return Image{shape[3], shape[2], shape[0], shape[1]};
  return Image{shape[0], shape[1], shape[2], shape[3]};
}

struct Kernel {
  std::int64_t out, in, h, w;
};

std::optional<Kernel> kernel_of(const std::vector<std::int64_t>& s, Layout layout) {
  // [out/a, in/b, h, w, b, a], and with the input channels in fours: [out/a, in/b, h, w, b/4, a,
  // 4].
  if (layout == Layout::Nchw && s.size() == 6) return Kernel{s[0] * s[5], s[1] * s[4], s[2], s[3]};
  if (layout == Layout::Nchw && s.size() == 7) {
    return Kernel{s[0] * s[5], s[1] * s[4] * s[6], s[2], s[3]};
  }
  if (s.size() != 4) return std::nullopt;
  if (layout == Layout::Nchw) return Kernel{s[0], s[1], s[2], s[3]};
  return Kernel{s[3], s[2], s[0], s[1]};
}

std::string window_text(const Spatial& h, const Spatial& w) {
  return fmt::format(
      "stride={},stride_w={},pad={},pad_w={},pad_bottom={},pad_right={},dilation={},dilation_w={}",
      h.stride, w.stride, h.pad_before, w.pad_before, h.pad_after, w.pad_after, h.dilation,
      w.dilation);
}

// More channels than this are nobody's; products of them stay far from the end of the numbers.
bool has_sane_channels(const Image& image, const Kernel& kernel) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  return image.c <= kMost && kernel.in <= kMost && kernel.out <= kMost;
}

Mapped impossible() { return Unmapped{"the shapes of its arguments do not fit together"}; }

Mapped not_understood(const LogRecord& record) {
  return Unmapped{fmt::format("arguments of {} are not understood", record.task)};
}

Mapped depthwise(const Image& image, const Kernel& kernel, const Windows& windows,
                 const std::string& type, bool winograd) {
  return Workload{
      fmt::format("depthwise:n={},h={},w={},c={},k={},kw={},{},dtype={}", image.n, image.h, image.w,
                  image.c, kernel.h, kernel.w, window_text(windows.h, windows.w), type),
      winograd};
}

Mapped convolution(std::string_view name, const LogRecord& record, const Arguments& arguments,
                   const std::string& type) {
  const Layout layout = layout_of(name, arguments);
  const auto image = image_of(arguments.tensor(0).shape, layout);
  auto kernel = kernel_of(arguments.tensor(1).shape, layout);
  if (!image || !kernel || !has_sane_channels(*image, *kernel)) return impossible();
  const bool per_channel = name.starts_with("depthwise");
  std::int64_t groups = 1;
  if (per_channel) {
    // [channels, multiplier, h, w], or [h, w, channels, multiplier].
    const std::int64_t channels = layout == Layout::Nchw ? kernel->out : kernel->in;
    const std::int64_t multiplier = layout == Layout::Nchw ? kernel->in : kernel->out;
    if (channels != image->c) return impossible();
    groups = image->c;
    kernel->out = image->c * multiplier;
    kernel->in = 1;
  } else {
    if (image->c % kernel->in != 0) return impossible();
    groups = image->c / kernel->in;
    if (name.starts_with("group_conv2d")) {
      const auto named = arguments.groups_at(3);  // behind strides, padding and dilation
      if (!named) return not_understood(record);
      if (arguments.others() > 3 && *named != groups) return impossible();
    }
    if (kernel->out % groups != 0) return impossible();
  }
  const auto windows =
      arguments.windows({image->h, image->w}, {kernel->h, kernel->w}, /*dilated=*/true);
  if (!windows) return not_understood(record);
  const bool winograd = contains(name, "winograd");
  if (per_channel && kernel->out == image->c) {
    return depthwise(*image, *kernel, *windows, type, winograd);
  }
  return Workload{fmt::format("conv2d:n={},h={},w={},ic={},oc={},kh={},kw={},{},groups={},dtype={}",
                              image->n, image->h, image->w, image->c, kernel->out, kernel->h,
                              kernel->w, window_text(windows->h, windows->w), groups, type),
                  winograd};
}

Mapped transposed(std::string_view name, const LogRecord& record, const Arguments& arguments,
                  const std::string& type) {
  const Layout layout = layout_of(name, arguments);
  const auto image = image_of(arguments.tensor(0).shape, layout);
  const auto& kernel = arguments.tensor(1).shape;  // [in, out / groups, h, w]
  if (!image || kernel.size() != 4 || layout != Layout::Nchw || kernel[0] != image->c) {
    return impossible();
  }
  const auto windows = arguments.windows({image->h, image->w}, {kernel[2], kernel[3]}, false);
  if (!windows) return not_understood(record);
  const auto extra = arguments.output_padding();
  const auto groups = arguments.groups_at(4);  // behind strides, padding, type and output padding
  if (!extra || !groups) return not_understood(record);
  if (image->c % *groups != 0) return impossible();
  return Workload{
      fmt::format("conv2d_transpose:n={},h={},w={},ic={},oc={},kh={},kw={},{},groups={},"
                  "output_pad={},output_pad_w={},dtype={}",
                  image->n, image->h, image->w, image->c, kernel[1] * *groups, kernel[2], kernel[3],
                  window_text(windows->h, windows->w), *groups, extra->first, extra->second, type)};
}

// [m, k] times [n, k], the second perhaps in panels of columns, [n/b, k, b], or of both,
// [n/b, k/c, b, c].
Mapped dense(const Arguments& arguments, const std::string& type) {
  const auto& left = arguments.tensor(0).shape;
  const auto& right = arguments.tensor(1).shape;
  if (left.size() != 2 || right.size() < 2 || right.size() > 4) return impossible();
  const std::int64_t n = right.size() == 2 ? right[0] : right[0] * right[2];
  const std::int64_t k = right.size() == 4 ? right[1] * right[3] : right[1];
  if (left[1] != k) return impossible();
  return Workload{fmt::format("dense:m={},n={},k={},dtype={}", left[0], n, left[1], type)};
}

// [m, k] times [k, n], unless the flags at the end say that one is transposed.
Mapped matmul(const Arguments& arguments, const std::string& type) {
  const auto& left = arguments.tensor(0).shape;
  const auto& right = arguments.tensor(1).shape;
  if (left.size() != 2 || right.size() != 2) return impossible();
  const auto flags = arguments.flags();
  const bool left_turned = flags.size() == 2 && flags[0];
  const bool right_turned = flags.size() == 2 && flags[1];
  const std::int64_t m = left[left_turned ? 1 : 0], k = left[left_turned ? 0 : 1];
  if (right[right_turned ? 1 : 0] != k) return impossible();
  return Workload{
      fmt::format("matmul:m={},n={},k={},dtype={}", m, right[right_turned ? 0 : 1], k, type)};
}

// [b, m, k] times [b, n, k], unless the flags at the end say otherwise.
Mapped batch_matmul(const Arguments& arguments, const std::string& type) {
  const auto& left = arguments.tensor(0).shape;
  const auto& right = arguments.tensor(1).shape;
  if (left.size() != 3 || right.size() != 3) return impossible();
  const auto flags = arguments.flags();
  const bool left_turned = flags.size() == 2 && flags[0];
  const bool right_turned = flags.size() != 2 || flags[1];
  const std::int64_t m = left[left_turned ? 2 : 1], k = left[left_turned ? 1 : 2];
  if (right[right_turned ? 2 : 1] != k) return impossible();
  if (left[0] != right[0]) return Unmapped{"one matrix for all of a batch is not supported"};
  return Workload{fmt::format("batch_matmul:b={},m={},n={},k={},dtype={}", left[0], m,
                              right[right_turned ? 1 : 2], k, type)};
}

bool has_other_weights(std::string_view name) {
  // Weights that were transformed ahead, sparse or packed into bits are no plain weights.
  for (const std::string_view part :
       {"without_weight_transform", "without_transform", "weight_transform", "bitserial", "sparse",
        "HWNC", "deformable", "winograd_nnpack", "conv2d_packed"}) {
    if (contains(name, part)) return true;
  }
  return false;
}

}  // namespace

std::variant<Workload, Unmapped> workload_of(const LogRecord& record) {
  const std::string_view name = operator_of(record.task);
  const bool product =
      name.starts_with("dense") || name.starts_with("matmul") || name.starts_with("batch_matmul");
  const bool window = name.starts_with("conv2d") || name.starts_with("depthwise_conv2d") ||
                      name.starts_with("group_conv2d");
  if (has_other_weights(name) || (!product && !window)) return unsupported_operator(record);
  const Arguments arguments(record.arguments);
  if (arguments.tensors() < 2) return not_understood(record);
  const auto type = arguments.element_type();
  if (const auto* unmapped = std::get_if<Unmapped>(&type)) return *unmapped;
  const std::string& dtype = std::get<std::string>(type);
  if (!arguments.has_fixed_shapes()) return Unmapped{"a shape is not fixed"};
  if (name.starts_with("dense")) return dense(arguments, dtype);
  if (name.starts_with("matmul")) return matmul(arguments, dtype);
  if (name.starts_with("batch_matmul")) return batch_matmul(arguments, dtype);
  if (contains(name, "conv2d_transpose")) return transposed(name, record, arguments, dtype);
  return convolution(name, record, arguments, dtype);
}

std::string target_kind(const std::string& target) {
  if (target.starts_with('{')) {
    const auto object = read_json<nlohmann::json>(target);
    const auto kind = object.is_object() ? object.find("kind") : object.end();
    return kind != object.end() && kind->is_string() ? kind->get<std::string>() : "";
  }
  return target.substr(0, target.find(' '));
}

bool is_cpu(const std::string& kind) {
  return kind == "llvm" || kind == "c" || kind == "cpu";  // fixed word: AutoTVM's
}

}  // namespace attune::logs
