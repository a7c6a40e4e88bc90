#include "compiler/ir/text/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attune::ir {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Longer symbols first, so that they win.
constexpr std::array<std::string_view, 29> kSymbols{
    "->", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "+", "-", "*", "/", "%", "<",
    ">",  "&",  "|",  "^",  "(",  ")",  "[",  "]",  "{",  "}", ",", ":", "=", "@"};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Result<std::vector<Token>> run();

 private:
  bool done() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void advance();
  // Moves over the characters that fit and returns them.
  template <typename Fits>
  std::string take_while(Fits fits);
  Status quoted(Token& token);
  void number(Token& token);
  Status symbol(Token& token);

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1, column_ = 1;
};

void Lexer::advance() {
  if (peek() == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
  ++at_;
}

template <typename Fits>
std::string Lexer::take_while(Fits fits) {
  const std::size_t begin = at_;
  while (!done() && fits(peek())) advance();
  return std::string(text_.substr(begin, at_ - begin));
}

Status Lexer::quoted(Token& token) {
  token.kind = Token::Kind::Quoted;
  advance();
  while (!done() && peek() != '\'') {
    if (peek() == '\\') {
      advance();
      if (done()) break;
      token.text += peek() == 'n' ? '\n' : peek();
    } else {
      token.text += peek();
    }
    advance();
  }
  if (done()) return error_at(token, "the quoted name has no end");
  advance();
  return {};
}

void Lexer::number(Token& token) {
  token.kind = Token::Kind::Number;
  token.text = take_while(is_digit);
  if (peek() == '.' && is_digit(peek(1))) {
    token.is_real = true;
    advance();
    token.text += "." + take_while(is_digit);
  }
  const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
  if (peek() == 'e' && is_digit(peek(1 + sign))) {
    token.is_real = true;
    token.text += 'e';
    advance();
    if (sign) {
      if (peek() == '-') token.text += '-';
      advance();
    }
    token.text += take_while(is_digit);
  }
  token.suffix = take_while([](char c) { return is_letter(c) || is_digit(c); });
}

Status Lexer::symbol(Token& token) {
  token.kind = Token::Kind::Symbol;
  const auto found = std::find_if(kSymbols.begin(), kSymbols.end(), [&](std::string_view s) {
    return text_.substr(at_).starts_with(s);
  });
  if (found == kSymbols.end()) {
    return error_at(token, fmt::format("unexpected character '{}'", peek()));
  }
  token.text = *found;
  for (std::size_t i = 0; i < found->size(); ++i) advance();
  return {};
}

Result<std::vector<Token>> Lexer::run() {
  std::vector<Token> tokens;
  while (true) {
    take_while(is_space);
    Token token;
    token.line = line_;
    token.column = column_;
    if (done()) {
      tokens.push_back(token);
      return tokens;
    }
    if (is_letter(peek())) {
      token.kind = Token::Kind::Name;
      token.text = take_while([](char c) { return is_letter(c) || is_digit(c) || c == '.'; });
    } else if (is_digit(peek())) {
      number(token);
    } else if (peek() == '\'') {
      ATTUNE_RETURN_IF_ERROR(quoted(token));
    } else {
      ATTUNE_RETURN_IF_ERROR(symbol(token));
    }
    tokens.push_back(std::move(token));
  }
}

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view text) { return Lexer(text).run(); }

Error error_at(const Token& token, const std::string& message) {
  return invalid(fmt::format("line {}, column {}: {}", token.line, token.column, message));
}

std::string shown(const Token& token) {
  return token.kind == Token::Kind::End ? "the end" : "'" + token.text + token.suffix + "'";
}

}  // namespace attune::ir
