// A file of the sources as text within the program: ATTUNE_TEXT(symbol, "compiler/x/file.txt")
// declares symbol_begin and symbol_end around its bytes. The name is below src/, where the
// assembler looks as the compiler does. cmake/attune.cmake must know who embeds what
// (attune_embeds): neither ninja nor the compiler cache sees the file being read.
#pragma once

#define ATTUNE_TEXT(symbol, file)                            \
  __asm__(                                                   \
      ".section .rodata\n"                                   \
      ".global " #symbol "_begin, " #symbol                  \
      "_end\n"                                               \
      ".hidden " #symbol "_begin, " #symbol "_end\n" #symbol \
      "_begin:\n"                                            \
      ".incbin \"" file "\"\n" #symbol                       \
      "_end:\n"                                              \
      ".byte 0\n"                                            \
      ".previous\n");                                        \
  extern "C" {                                               \
  extern const char symbol##_begin[];                        \
  extern const char symbol##_end[];                          \
  }
