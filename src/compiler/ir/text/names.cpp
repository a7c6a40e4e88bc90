#include "compiler/ir/text/names.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/check.h"

namespace attune::ir {
namespace {

// Tables are indexed by the enumerator.
constexpr std::array<std::string_view, 6> kScopes{"global", "stack", "register",
                                                  "shared", "warp",  "accumulator"};
constexpr std::array<std::string_view, 5> kLoopKinds{"serial", "parallel", "vectorized", "unrolled",
                                                     "bound"};
constexpr std::array<std::string_view, 7> kReductions{"none", "sum",    "prod",  "max",
                                                      "min",  "argmax", "argmin"};
constexpr std::array<std::string_view, 32> kMathFns{
    "neg",   "not",  "bit_not", "abs",  "sign", "floor",  "ceil",   "round",
    "trunc", "sqrt", "rsqrt",   "exp",  "log",  "sin",    "cos",    "tan",
    "asin",  "acos", "atan",    "sinh", "cosh", "tanh",   "asinh",  "acosh",
    "atanh", "erf",  "sigmoid", "pow",  "fma",  "is_nan", "is_inf", "bitcast"};

struct Operator {
  std::string_view symbol;
  int precedence;
};
constexpr std::array<Operator, 20> kOperators{
    {{"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}, {"min", 0}, {"max", 0},
     {"==", 6}, {"!=", 6}, {"<", 7},  {"<=", 7}, {">", 7},  {">=", 7},  {"&&", 2},
     {"||", 1}, {"&", 5},  {"|", 3},  {"^", 4},  {"<<", 8}, {">>", 8}}};
static_assert(static_cast<std::size_t>(BinOp::Shr) + 1 == kOperators.size());
static_assert(static_cast<std::size_t>(MathFn::Bitcast) + 1 == kMathFns.size());

constexpr std::array<std::pair<BinOp, std::string_view>, 4> kReduceNames{
    {{BinOp::Add, "add"}, {BinOp::Mul, "mul"}, {BinOp::Min, "min"}, {BinOp::Max, "max"}}};

constexpr std::string_view kKeywords[] = {
    "with",  "cast",     "bitcast", "true",     "false",      "inf",      "nan",     "for",
    "in",    "from",     "on",      "parallel", "vectorized", "unrolled", "bound",   "if",
    "else",  "alloc",    "let",     "eval",     "barrier",    "kernel",   "program", "workspace",
    "input", "constant", "stage",   "output",   "serial"};

template <typename Enum>
std::optional<Enum> find_name(std::span<const std::string_view> names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string_view to_string(Scope scope) { return kScopes[static_cast<std::size_t>(scope)]; }
std::string_view to_string(LoopKind kind) { return kLoopKinds[static_cast<std::size_t>(kind)]; }
std::string_view to_string(MathFn fn) { return kMathFns[static_cast<std::size_t>(fn)]; }
std::string_view to_string(Reduction reduction) {
  return kReductions[static_cast<std::size_t>(reduction)];
}
std::string_view to_string(BinOp op) { return kOperators[static_cast<std::size_t>(op)].symbol; }

std::optional<Scope> parse_scope(std::string_view name) { return find_name<Scope>(kScopes, name); }
std::optional<LoopKind> parse_loop_kind(std::string_view name) {
  return find_name<LoopKind>(kLoopKinds, name);
}
std::optional<MathFn> parse_math_fn(std::string_view name) {
  return find_name<MathFn>(kMathFns, name);
}
std::optional<Reduction> parse_reduction(std::string_view name) {
  return find_name<Reduction>(kReductions, name);
}

std::optional<BinOp> parse_infix(std::string_view symbol) {
  for (std::size_t i = 0; i < kOperators.size(); ++i) {
    if (kOperators[i].precedence > 0 && kOperators[i].symbol == symbol) {
      return static_cast<BinOp>(i);
    }
  }
  return std::nullopt;
}

int precedence(BinOp op) { return kOperators[static_cast<std::size_t>(op)].precedence; }

std::string_view reduce_name(BinOp op) {
  for (const auto& [known, name] : kReduceNames) {
    if (known == op) return name;
  }
  return "unknown";
}

std::optional<BinOp> parse_reduce_name(std::string_view name) {
  for (const auto& [op, known] : kReduceNames) {
    if (known == name) return op;
  }
  return std::nullopt;
}

bool is_plain_name(std::string_view name) {
  if (name.empty() || !is_letter(name[0])) return false;
  const auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '.'; };
  if (!std::all_of(name.begin(), name.end(), fits)) return false;
  return std::find(std::begin(kKeywords), std::end(kKeywords), name) == std::end(kKeywords);
}

std::string quoted_if_needed(std::string_view name) {
  if (is_plain_name(name)) return std::string(name);
  std::string text = "'";
  for (char c : name) {
    if (c == '\'' || c == '\\') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text + "'";
}

}  // namespace attune::ir
