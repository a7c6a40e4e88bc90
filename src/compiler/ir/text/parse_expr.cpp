#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "compiler/ir/nodes/array.h"
#include "compiler/ir/text/names.h"
#include "compiler/ir/text/parser.h"

namespace attune::ir {

bool Parser::at_symbol(std::string_view symbol, std::size_t ahead) const {
  return peek(ahead).kind == Token::Kind::Symbol && peek(ahead).text == symbol;
}

bool Parser::at_word(std::string_view word) const {
  return peek().kind == Token::Kind::Name && peek().text == word;
}

bool Parser::skip_symbol(std::string_view symbol) {
  const bool found = at_symbol(symbol);
  if (found) next();
  return found;
}

bool Parser::skip_word(std::string_view word) {
  const bool found = at_word(word);
  if (found) next();
  return found;
}

Status Parser::expect(std::string_view symbol) {
  if (skip_symbol(symbol)) return {};
  return error_at(peek(), fmt::format("expected '{}', found {}", symbol, shown(peek())));
}

Status Parser::end() {
  if (peek().kind == Token::Kind::End) return {};
  return error_at(peek(), fmt::format("expected the end, found {}", shown(peek())));
}

Result<std::string> Parser::name(const char* what) {
  const bool plain = peek().kind == Token::Kind::Name && is_plain_name(peek().text);
  if (plain || peek().kind == Token::Kind::Quoted) return next().text;
  return error_at(peek(), fmt::format("expected {}, found {}", what, shown(peek())));
}

Result<std::int64_t> Parser::integer(const char* what) {
  const Token token = next();
  std::int64_t value = 0;
  const char* last = token.text.data() + token.text.size();
  const bool fits = token.kind == Token::Kind::Number && !token.is_real && token.suffix.empty() &&
                    std::from_chars(token.text.data(), last, value).ec == std::errc{};
  if (fits) return value;
  return error_at(token, fmt::format("expected {}, found {}", what, shown(token)));
}

Result<DType> Parser::type() {
  const Token token = next();
  const auto found = token.kind == Token::Kind::Name ? parse_dtype(token.text) : std::nullopt;
  if (found) return *found;
  return error_at(token, fmt::format("expected a type, found {}", shown(token)));
}

Buffer Parser::find_buffer(const std::string& wanted) const {
  for (auto b = buffers_.rbegin(); b != buffers_.rend(); ++b) {
    if ((*b)->name == wanted) return *b;
  }
  return nullptr;
}

// Operators of at least a strength, grouped from the left.
Result<Expr> Parser::infix(int weakest) {
  const Depth depth(*this);
  if (depth_ > kDeepest) return error_at(peek(), "nested too deeply");
  ATTUNE_ASSIGN(Expr left, primary());
  for (int links = 0; peek().kind == Token::Kind::Symbol; ++links) {
    if (links > kLongest) return error_at(peek(), "too many operators in a row");
    const auto op = parse_infix(peek().text);
    if (!op || precedence(*op) < weakest) break;
    const Token token = next();
    ATTUNE_ASSIGN(const Expr right, infix(precedence(*op) + 1));
    if (left.type() != right.type()) {
      return error_at(token, fmt::format("operands of '{}' differ in type: {} and {}", token.text,
                                         to_string(left.type()), to_string(right.type())));
    }
    left = binary(*op, left, right);
  }
  return left;
}

Result<Expr> Parser::primary() {
  if (skip_symbol("(")) {
    ATTUNE_ASSIGN(Expr inner, expr());
    ATTUNE_RETURN_IF_ERROR(expect(")"));
    return inner;
  }
  if (skip_symbol("@")) return opaque_call();
  const bool negative = skip_symbol("-");
  if (peek().kind == Token::Kind::Number) return number(negative);
  if (at_word("inf") || at_word("nan")) return real_word(negative);
  const bool word = peek().kind == Token::Kind::Name || peek().kind == Token::Kind::Quoted;
  if (word && !negative) return named(next());
  return error_at(peek(),
                  fmt::format("expected {}, found {}",
                              negative ? "a number after '-'" : "an expression", shown(peek())));
}

Result<Expr> Parser::number(bool negative) {
  const Token token = next();
  const auto found = token.suffix.empty() ? std::optional(kIndex) : parse_dtype(token.suffix);
  if (!found || !found->is_scalar()) {
    return error_at(token, fmt::format("'{}' is not a type of constants", token.suffix));
  }
  const std::string text = (negative ? "-" : "") + token.text;
  const char* last = text.data() + text.size();
  if (found->is_float() != token.is_real) {
    return error_at(token,
                    fmt::format("'{}' is not a constant of type {}", text, to_string(*found)));
  }
  if (token.is_real) {
    double value = 0;
    if (std::from_chars(text.data(), last, value).ec == std::errc{}) {
      return float_imm(value, *found);
    }
  } else {
    std::int64_t value = 0;
    if (std::from_chars(text.data(), last, value).ec == std::errc{}) return int_imm(value, *found);
  }
  return error_at(token, fmt::format("'{}' is out of range", text));
}

Result<Expr> Parser::real_word(bool negative) {
  const Token token = next();
  ATTUNE_RETURN_IF_ERROR(expect(":"));
  ATTUNE_ASSIGN(const DType of, type());
  if (!of.is_float() || !of.is_scalar()) {
    return error_at(token, fmt::format("'{}' is not of type {}", token.text, to_string(of)));
  }
  const double value = token.text == "inf" ? std::numeric_limits<double>::infinity()
                                           : std::numeric_limits<double>::quiet_NaN();
  return float_imm(negative ? -value : value, of);
}

Result<std::vector<Expr>> Parser::list(std::string_view close) {
  std::vector<Expr> items;
  if (skip_symbol(close)) return items;
  do {
    ATTUNE_ASSIGN(Expr item, expr());
    items.push_back(std::move(item));
  } while (skip_symbol(","));
  ATTUNE_RETURN_IF_ERROR(expect(close));
  return items;
}

// What begins with a name: a truth value, a call, a load or a variable.
Result<Expr> Parser::named(const Token& token) {
  const bool plain = token.kind == Token::Kind::Name;
  if (plain && token.text == "true") return bool_imm(true);
  if (plain && token.text == "false") return bool_imm(false);
  if (plain && (token.text == "cast" || token.text == "bitcast")) return typed_call(token);
  if (plain && !is_plain_name(token.text)) {
    return error_at(token, fmt::format("expected an expression, found {}", shown(token)));
  }
  if (plain && at_symbol("(")) return call(token);
  if (skip_symbol("[")) {
    ATTUNE_ASSIGN(std::vector<Expr> index, list("]"));
    const Buffer buffer = find_buffer(token.text);
    if (!buffer) return error_at(token, fmt::format("buffer '{}' is not declared", token.text));
    return access(token, buffer, std::move(index));
  }
  if (!skip_symbol(":")) return var(token.text);
  ATTUNE_ASSIGN(const DType of, type());
  return var(token.text, of);
}

Result<Expr> Parser::access(const Token& token, const Buffer& buffer, std::vector<Expr> index) {
  if (index.size() != buffer->shape.size()) {
    return error_at(token, fmt::format("buffer '{}' has {} dimensions, {} indices are given",
                                       buffer->name, buffer->shape.size(), index.size()));
  }
  int lanes = 1;
  for (const Expr& i : index) {
    if (i.type().element() != kIndex ||
        (lanes > 1 && !i.type().is_scalar() && i.type().lanes != lanes)) {
      return error_at(
          token, fmt::format("buffer '{}' is indexed by {}", buffer->name, to_string(i.type())));
    }
    lanes = std::max<int>(lanes, i.type().lanes);
  }
  return load(buffer, std::move(index));
}

Result<Expr> Parser::typed_call(const Token& function) {
  ATTUNE_RETURN_IF_ERROR(expect("<"));
  ATTUNE_ASSIGN(const DType to, type());
  ATTUNE_RETURN_IF_ERROR(expect(">"));
  ATTUNE_RETURN_IF_ERROR(expect("("));
  ATTUNE_ASSIGN(const std::vector<Expr> args, list(")"));
  const bool bits = function.text == "bitcast";
  const bool fits = args.size() == 1 && args[0].type().lanes == to.lanes &&
                    (!bits || args[0].type().bits == to.bits);
  if (!fits) {
    return error_at(function, fmt::format("{} to {} needs one value of as many {}", function.text,
                                          to_string(to), bits ? "bits and lanes" : "lanes"));
  }
  return bits ? bitcast(to, args[0]) : cast(to, args[0]);
}

Result<Expr> Parser::opaque_call() {
  ATTUNE_ASSIGN(std::string function, name("the name of an intrinsic"));
  ATTUNE_RETURN_IF_ERROR(expect("<"));
  ATTUNE_ASSIGN(const DType of, type());
  ATTUNE_RETURN_IF_ERROR(expect(">"));
  ATTUNE_RETURN_IF_ERROR(expect("("));
  ATTUNE_ASSIGN(std::vector<Expr> args, list(")"));
  return opaque(std::move(function), of, std::move(args));
}

Result<Expr> Parser::call(const Token& function) {
  ATTUNE_RETURN_IF_ERROR(expect("("));
  ATTUNE_ASSIGN(std::vector<Expr> args, list(")"));
  const std::string& f = function.text;
  const std::size_t count = args.size();
  const auto wrong = [&](const char* needs) -> Result<Expr> {
    return error_at(function, fmt::format("{} needs {}", f, needs));
  };
  if (f == "min" || f == "max") {
    if (count != 2 || args[0].type() != args[1].type()) return wrong("two values of one type");
    return binary(f == "min" ? BinOp::Min : BinOp::Max, args[0], args[1]);
  }
  if (f == "select") {
    if (count != 3 || !args[0].type().is_bool() || args[1].type() != args[2].type()) {
      return wrong("a bool and two values of one type");
    }
    return select(args[0], args[1], args[2]);
  }
  if (f == "ramp" || f == "broadcast") {
    const bool ramped = f == "ramp";
    const auto* lanes = count == (ramped ? 3u : 2u) ? as_int(args.back()) : nullptr;
    if (!lanes || *lanes < 2 || *lanes > 4096 || !args[0].type().is_scalar() ||
        (ramped && args[1].type() != args[0].type())) {
      return wrong(ramped ? "two scalars of one type and the number of lanes"
                          : "a scalar and the number of lanes");
    }
    const int n = static_cast<int>(*lanes);
    return ramped ? ramp(args[0], args[1], n) : broadcast(args[0], n);
  }
  if (f.starts_with("reduce_")) {
    const auto op = parse_reduce_name(std::string_view(f).substr(7));
    if (op && count == 1) return vector_reduce(*op, args[0]);
    if (op) return wrong("one vector");
  }
  const auto fn = parse_math_fn(f);
  if (!fn) return error_at(function, fmt::format("there is no function '{}'", f));
  if (count == 0) return wrong("an argument");
  return math(*fn, std::move(args));
}

Result<Expr> parse_expr(std::string_view text, const std::vector<Buffer>& buffers) {
  ATTUNE_ASSIGN(std::vector<Token> tokens, tokenize(text));
  Parser parser(std::move(tokens), buffers);
  ATTUNE_ASSIGN(Expr e, parser.expr());
  ATTUNE_RETURN_IF_ERROR(parser.end());
  return e;
}

}  // namespace attune::ir
