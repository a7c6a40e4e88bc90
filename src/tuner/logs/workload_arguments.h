// The arguments of a task of AutoTVM by their meaning: tensors first, then strides, padding and
// dilation, then layouts, types and flags, of which some may be missing.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tuner/logs/log_line.h"
#include "tuner/logs/workload.h"

namespace attune::logs {

// One spatial dimension of a window.
struct Spatial {
  std::int64_t stride = 1, pad_before = 0, pad_after = 0, dilation = 1;
};

struct Windows {
  Spatial h, w;
};

class Arguments {
 public:
  explicit Arguments(const Value::List& arguments);

  std::size_t tensors() const { return tensors_.size(); }
  std::size_t others() const { return others_.size(); }  // what follows the operands
  const Tensor& tensor(std::size_t i) const { return *tensors_[i]; }
  bool has_fixed_shapes() const;
  // Of both operands, as our specs spell it.
  std::variant<std::string, Unmapped> element_type() const;

  // Strides, padding and, where the operator has it, dilation; the sizes decide what "SAME" means.
  // Nothing when they are missing or no layer has such numbers.
  std::optional<Windows> windows(std::array<std::int64_t, 2> sizes,
                                 std::array<std::int64_t, 2> kernel, bool dilated) const;
  // Of a transposed convolution, vertical and horizontal; nothing when it makes no sense.
  std::optional<std::pair<std::int64_t, std::int64_t>> output_padding() const;
  // The number at a place behind the operands that holds the number of groups, 1 when there is no
  // such place; nothing when it holds anything else.
  std::optional<std::int64_t> groups_at(std::size_t place) const;
  // The first word that is a layout of activations, "NCHW".
  std::optional<std::string_view> layout() const;
  // All that are true or false.
  std::vector<bool> flags() const;

 private:
  std::vector<const Tensor*> tensors_;  // the first two, the operands
  std::vector<const Value*> others_;    // what follows them
};

}  // namespace attune::logs
