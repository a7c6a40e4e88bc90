// The words of the text form of IR, for parse.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace attune::ir {

struct Token {
  enum class Kind { Name, Quoted, Number, Symbol, End };
  Kind kind = Kind::End;
  std::string text;    // of a number: the digits; of a quoted name: what it stands for
  std::string suffix;  // of a number: its type, "" for an index
  bool is_real = false;
  int line = 1, column = 1;
};

// The tokens of a text, the last one of kind End.
Result<std::vector<Token>> tokenize(std::string_view text);
// An error at a token: "line 3, column 7: message".
Error error_at(const Token& token, const std::string& message);
// The token as an error shows it.
std::string shown(const Token& token);

}  // namespace attune::ir
