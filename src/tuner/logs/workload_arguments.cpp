#include "tuner/logs/workload_arguments.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::logs {
namespace {

using Numbers = std::vector<std::int64_t>;

// Large enough for any layer, small enough for products of a few of them.
constexpr std::int64_t kLargest = std::int64_t{1} << 20;

constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {"float32", "f32"}, {"float16", "f16"}, {"bfloat16", "bf16"}, {"int8", "i8"}, {"uint8", "u8"}};

// A number stands for a list of one.
std::optional<Numbers> numbers_of(const Value& value) {
  if (const auto* number = value.as<std::int64_t>()) return Numbers{*number};
  const auto* list = value.as<Value::List>();
  if (!list) return std::nullopt;
  Numbers numbers;
  for (const Value& item : *list) {
    const auto* number = item.as<std::int64_t>();
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

// Vertical and horizontal; one number stands for both.
std::optional<std::pair<std::int64_t, std::int64_t>> pair_of(const Value& value) {
  const auto numbers = numbers_of(value);
  if (!numbers || numbers->empty() || numbers->size() > 2) return std::nullopt;
  return std::pair(numbers->front(), numbers->back());
}

bool is_sane(std::int64_t number, std::int64_t least) {
  return number >= least && number <= kLargest;
}

bool is_sane(const Spatial& spatial) {
  return is_sane(spatial.stride, 1) && is_sane(spatial.dilation, 1) &&
         is_sane(spatial.pad_before, 0) && is_sane(spatial.pad_after, 0);
}

// As many positions as every stride-th element has, more of an odd padding at the end.
void pad_to_same(Spatial& spatial, std::int64_t size, std::int64_t kernel) {
  const std::int64_t positions = (size + spatial.stride - 1) / spatial.stride;
  const std::int64_t span = (kernel - 1) * spatial.dilation + 1;
  const std::int64_t total =
      std::max<std::int64_t>(0, (positions - 1) * spatial.stride + span - size);
  spatial.pad_before = total / 2;
  spatial.pad_after = total - total / 2;
}

// [all], [vertical, horizontal] or [top, left, bottom, right].
bool pad_by_numbers(Windows& windows, const Numbers& pads) {
  if (pads.empty() || pads.size() == 3 || pads.size() > 4) return false;
  const std::int64_t top = pads[0], left = pads.size() > 1 ? pads[1] : top;
  windows.h.pad_before = top;
  windows.w.pad_before = left;
  windows.h.pad_after = pads.size() == 4 ? pads[2] : top;
  windows.w.pad_after = pads.size() == 4 ? pads[3] : left;
  return true;
}

}  // namespace

Arguments::Arguments(const Value::List& arguments) {
  std::size_t i = 0;
  for (; i < arguments.size() && tensors_.size() < 2; ++i) {
    const auto* tensor = arguments[i].as<Tensor>();
    if (!tensor) break;
    tensors_.push_back(tensor);
  }
  for (; i < arguments.size(); ++i) others_.push_back(&arguments[i]);
}

bool Arguments::has_fixed_shapes() const {
  return std::all_of(tensors_.begin(), tensors_.end(), [](const Tensor* tensor) {
    return std::all_of(tensor->shape.begin(), tensor->shape.end(),
                       [](std::int64_t extent) { return extent > 0 && extent <= kLargest; });
  });
}

std::variant<std::string, Unmapped> Arguments::element_type() const {
  const std::string &first = tensor(0).dtype, &second = tensor(1).dtype;
  if (first != second) {
    return Unmapped{fmt::format("element types {} and {} do not mix", first, second)};
  }
  for (const auto& [theirs, ours] : kTypes) {
    if (theirs == first) return std::string(ours);
  }
  return Unmapped{fmt::format("element type {} is not supported", first)};
}

std::optional<Windows> Arguments::windows(std::array<std::int64_t, 2> sizes,
                                          std::array<std::int64_t, 2> kernel, bool dilated) const {
  if (others_.size() < 2) return std::nullopt;
  Windows windows;
  const auto strides = pair_of(*others_[0]);
  if (!strides) return std::nullopt;
  std::tie(windows.h.stride, windows.w.stride) = *strides;
  if (dilated && others_.size() > 2) {
    if (const auto dilation = pair_of(*others_[2])) {
      std::tie(windows.h.dilation, windows.w.dilation) = *dilation;
    }
  }
  if (!is_sane(windows.h) || !is_sane(windows.w)) return std::nullopt;
  if (const auto* word = others_[1]->as<std::string>()) {
    if (*word == "VALID") return windows;
    if (*word != "SAME") return std::nullopt;
    pad_to_same(windows.h, sizes[0], kernel[0]);
    pad_to_same(windows.w, sizes[1], kernel[1]);
  } else {
    const auto pads = numbers_of(*others_[1]);
    if (!pads || !pad_by_numbers(windows, *pads)) return std::nullopt;
  }
  if (!is_sane(windows.h) || !is_sane(windows.w)) return std::nullopt;
  return windows;
}

std::optional<std::pair<std::int64_t, std::int64_t>> Arguments::output_padding() const {
  if (others_.size() < 4 || others_[3]->as<std::monostate>()) return std::pair{0, 0};
  const auto extra = pair_of(*others_[3]);
  if (!extra || !is_sane(extra->first, 0) || !is_sane(extra->second, 0)) return std::nullopt;
  return extra;
}

std::optional<std::int64_t> Arguments::groups_at(std::size_t place) const {
  if (others_.size() <= place) return 1;
  const auto* groups = others_[place]->as<std::int64_t>();
  if (!groups || !is_sane(*groups, 1)) return std::nullopt;
  return *groups;
}

std::optional<std::string_view> Arguments::layout() const {
  for (const Value* value : others_) {
    const auto* word = value->as<std::string>();
    if (!word) continue;
    if (word->starts_with("NCHW") || *word == "NHWC" || *word == "HWCN") return *word;
  }
  return std::nullopt;
}

std::vector<bool> Arguments::flags() const {
  std::vector<bool> flags;
  for (const Value* value : others_) {
    if (const auto* flag = value->as<bool>()) flags.push_back(*flag);
  }
  return flags;
}

}  // namespace attune::logs
