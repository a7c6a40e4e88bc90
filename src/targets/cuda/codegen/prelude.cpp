// The headers of prelude/, as they are, within the program.
#include "targets/cuda/codegen/prelude.h"

#include "base/embedded_text.h"

ATTUNE_TEXT(attune_cuda_scalars, "targets/cuda/codegen/prelude/scalars.h")
ATTUNE_TEXT(attune_cuda_small_floats, "targets/cuda/codegen/prelude/small_floats.h")
ATTUNE_TEXT(attune_cuda_functions, "targets/cuda/codegen/prelude/functions.h")
ATTUNE_TEXT(attune_cuda_vectors, "targets/cuda/codegen/prelude/vectors.h")
ATTUNE_TEXT(attune_cuda_copies, "targets/cuda/codegen/prelude/copies.h")
ATTUNE_TEXT(attune_cuda_matrices, "targets/cuda/codegen/prelude/matrices.h")
ATTUNE_TEXT(attune_cuda_overlap, "targets/cuda/codegen/prelude/overlap.h")
ATTUNE_TEXT(attune_cuda_warpgroups, "targets/cuda/codegen/prelude/warpgroups.h")
ATTUNE_TEXT(attune_cuda_bulk_copies, "targets/cuda/codegen/prelude/bulk_copies.h")

namespace attune::cuda {

const std::string& prelude() {
  static const std::string text = [] {
    std::string all;
    for (const std::string_view part :
         {std::string_view(attune_cuda_scalars_begin, attune_cuda_scalars_end),
          std::string_view(attune_cuda_small_floats_begin, attune_cuda_small_floats_end),
          std::string_view(attune_cuda_functions_begin, attune_cuda_functions_end),
          std::string_view(attune_cuda_vectors_begin, attune_cuda_vectors_end),
          std::string_view(attune_cuda_copies_begin, attune_cuda_copies_end),
          std::string_view(attune_cuda_matrices_begin, attune_cuda_matrices_end),
          std::string_view(attune_cuda_overlap_begin, attune_cuda_overlap_end),
          std::string_view(attune_cuda_warpgroups_begin, attune_cuda_warpgroups_end),
          std::string_view(attune_cuda_bulk_copies_begin, attune_cuda_bulk_copies_end)}) {
      all += part;
      all += "\n";
    }
    return all;
  }();
  return text;
}

}  // namespace attune::cuda
