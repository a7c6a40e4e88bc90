// Resize along one axis as a table: for each output element the places of the input elements it is
// made of, and their weights. Every mode of ONNX's Resize is such a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attune::onnx {

struct ResizeRules {
  std::string mode = "nearest";            // nearest, linear, cubic
  std::string coordinates = "half_pixel";  // coordinate_transformation_mode
  // round_prefer_floor, round_prefer_ceil, floor, ceil; "simple" is floor, or ceil for reductions.
  std::string nearest = "round_prefer_floor";
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
};

struct ResizeAxis {
  std::int64_t size = 1, result = 1;  // elements before and after
  double scale = 1;
  double roi_start = 0, roi_end = 1;
};

struct ResizeTable {
  std::int64_t taps = 1;
  std::vector<std::int64_t> places;  // [result, taps], within the input
  std::vector<double> weights;       // [result, taps]
  std::vector<bool> outside;         // [result]: takes the extrapolation value
};

ResizeTable resize_table(const ResizeRules& rules, const ResizeAxis& axis);

}  // namespace attune::onnx
