// What the text of kernels stands on: arithmetic, functions and vectors of one thread.
#pragma once

#include <string>
#include <string_view>

namespace attune::cuda {

// Under which texts of kernels include it.
inline constexpr std::string_view kPreludeName = "attune.cuh";
const std::string& prelude();

}  // namespace attune::cuda
