#include "compiler/codegen/c_text/names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace attune::c_text {
namespace {

// Keywords of C11 and C23, and names that the generated files use themselves.
constexpr std::array<std::string_view, 62> kReserved{
    "auto",      "break",    "case",     "char",      "const",    "continue", "default",  "do",
    "double",    "else",     "enum",     "extern",    "float",    "for",      "goto",     "if",
    "inline",    "int",      "long",     "register",  "restrict", "return",   "short",    "signed",
    "sizeof",    "static",   "struct",   "switch",    "typedef",  "union",    "unsigned", "void",
    "volatile",  "while",    "bool",     "true",      "false",    "nullptr",  "alignas",  "alignof",
    "constexpr", "typeof",   "asm",      "workspace", "parallel", "worker",   "begin",    "end",
    "closure",   "memcpy",   "memmove",  "int8_t",    "int16_t",  "int32_t",  "int64_t",  "uint8_t",
    "uint16_t",  "uint32_t", "uint64_t", "main",      "linux",    "unix"};

}  // namespace

std::string identifier(std::string_view text, std::span<const std::string_view> words) {
  std::string name;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    name += plain ? c : '_';
  }
  const bool is_reserved = std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end() ||
                           std::find(words.begin(), words.end(), name) != words.end();
  const bool starts_well = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
  // Capitals are left to the macros, at_ to the prelude.
  const bool is_ours = name.starts_with("at_") || name.starts_with("AT_");
  if (!starts_well || is_reserved || is_ours) name.insert(0, "x_");
  return name;
}

const std::string& Names::of(const std::string& text) {
  const auto found = known_.find(text);
  if (found != known_.end()) return found->second;
  const std::string base = identifier(text, words_);
  std::string name = base;
  for (int i = 2; !taken_.insert(name).second; ++i) name = base + "_" + std::to_string(i);
  return known_.emplace(text, std::move(name)).first->second;
}

std::string Names::fresh() { return "at_t" + std::to_string(next_++); }

}  // namespace attune::c_text
