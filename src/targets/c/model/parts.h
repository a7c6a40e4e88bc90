// The inside of model.h: one function per file of the folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "targets/c/codegen/kernel.h"
#include "targets/c/model/model.h"

namespace attune::c {

// The parts of the weights that one array holds: positions [first, first + bytes).
struct WeightsArray {
  std::string name;
  std::int64_t first = 0;
  std::int64_t bytes = 0;
};

struct ModelParts {
  const ModelSource& source;
  std::string name;  // fit for C
  WeightsForm form = WeightsForm::Array;
  std::vector<PrintedKernel> kernels;
  std::vector<WeightsArray> arrays;  // none when the weights are a file
};

std::string header_text(const ModelParts& parts);
std::string example_text(const ModelParts& parts);
std::string kernels_header(const ModelParts& parts);
// Kernels in files of a size that compilers like.
std::vector<SourceFile> kernel_files(const ModelParts& parts);
// NAME.c; fails for instructions that C does not have.
Result<std::string> run_text(const ModelParts& parts);

// Whole pieces together, up to a size that compilers like.
std::vector<WeightsArray> plan_arrays(const ModelSource& source, const std::string& name);
std::vector<SourceFile> weight_files(const ModelParts& parts);

// Text for a comment: in quotes, without what could end it.
std::string in_comment(std::string_view text);

}  // namespace attune::c
