// The headers of prelude/, as they are, within the program.
#include "targets/c/codegen/kernel.h"

#define ATTUNE_TEXT(symbol, file)                            \
  __asm__(                                                   \
      ".section .rodata\n"                                   \
      ".global " #symbol "_begin, " #symbol                  \
      "_end\n"                                               \
      ".hidden " #symbol "_begin, " #symbol "_end\n" #symbol \
      "_begin:\n"                                            \
      ".incbin \"" ATTUNE_PRELUDE "/" file "\"\n" #symbol    \
      "_end:\n"                                              \
      ".byte 0\n"                                            \
      ".previous\n");                                        \
  extern "C" {                                               \
  extern const char symbol##_begin[];                        \
  extern const char symbol##_end[];                          \
  }

ATTUNE_TEXT(attune_c_vectors, "vectors.h")
ATTUNE_TEXT(attune_c_scalars, "scalars.h")
ATTUNE_TEXT(attune_c_functions, "functions.h")

namespace attune::c {

const std::vector<PreludePart>& prelude() {
  static const std::vector<PreludePart> parts{
      {"scalars", {attune_c_scalars_begin, attune_c_scalars_end}},
      {"vectors", {attune_c_vectors_begin, attune_c_vectors_end}},
      {"functions", {attune_c_functions_begin, attune_c_functions_end}}};
  return parts;
}

}  // namespace attune::c
