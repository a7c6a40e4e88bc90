// A file of the sources as text within the program: ATTUNE_TEXT(symbol, "file") declares
// symbol_begin and symbol_end around the bytes of the file in the folder ATTUNE_PRELUDE.
#pragma once

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
