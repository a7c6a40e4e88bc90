// The headers of prelude/, as they are, within the program.
#include "base/embedded_text.h"
#include "targets/c/codegen/kernel.h"

ATTUNE_TEXT(attune_c_vectors, "targets/c/codegen/prelude/vectors.h")
ATTUNE_TEXT(attune_c_scalars, "targets/c/codegen/prelude/scalars.h")
ATTUNE_TEXT(attune_c_functions, "targets/c/codegen/prelude/functions.h")

namespace attune::c {

const std::vector<PreludePart>& prelude() {
  static const std::vector<PreludePart> parts{
      {"scalars", {attune_c_scalars_begin, attune_c_scalars_end}},
      {"vectors", {attune_c_vectors_begin, attune_c_vectors_end}},
      {"functions", {attune_c_functions_begin, attune_c_functions_end}}};
  return parts;
}

}  // namespace attune::c
