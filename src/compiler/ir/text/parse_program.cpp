#include <fmt/format.h>

#include "compiler/ir/text/names.h"
#include "compiler/ir/text/parser.h"

namespace attune::ir {

// "(NAME: EXTENT, …)"
Result<std::vector<Axis>> Parser::axes() {
  std::vector<Axis> list;
  ATTUNE_RETURN_IF_ERROR(expect("("));
  if (skip_symbol(")")) return list;
  do {
    Axis axis;
    ATTUNE_ASSIGN(axis.name, name("an axis"));
    ATTUNE_RETURN_IF_ERROR(expect(":"));
    ATTUNE_ASSIGN(axis.extent, integer("an extent"));
    list.push_back(std::move(axis));
  } while (skip_symbol(","));
  ATTUNE_RETURN_IF_ERROR(expect(")"));
  return list;
}

// `max(k: 8) …` reduces, `max(k, 8)` is a value.
bool Parser::at_reduction() const {
  if (peek().kind != Token::Kind::Name || !parse_reduction(peek().text) || !at_symbol("(", 1)) {
    return false;
  }
  const bool named = at_symbol(":", 3) && peek(4).kind == Token::Kind::Number;
  return at_symbol(")", 2) || named;
}

Status Parser::values(Stage& s) {
  if (at_reduction()) {
    s.reduction = *parse_reduction(next().text);
    ATTUNE_ASSIGN(s.reduce_axes, axes());
  }
  if (s.reduction >= Reduction::ArgMax) {
    ATTUNE_RETURN_IF_ERROR(expect("("));
    ATTUNE_ASSIGN(s.values, list(")"));
    return {};
  }
  ATTUNE_ASSIGN(Expr value, expr());
  s.values = {std::move(value)};
  return {};
}

Result<Stage> Parser::stage() {
  Stage s;
  const Token token = peek();
  ATTUNE_ASSIGN(s.name, name("the name of a stage"));
  ATTUNE_ASSIGN(s.axes, axes());
  if (skip_symbol("->")) {
    do {
      ATTUNE_ASSIGN(Buffer output, declaration());
      s.outputs.push_back(std::move(output));
    } while (skip_symbol(","));
  }
  ATTUNE_RETURN_IF_ERROR(expect("="));
  ATTUNE_RETURN_IF_ERROR(values(s));
  const std::size_t count = s.reduction >= Reduction::ArgMax ? 2 : 1;
  if (s.values.size() != count) {
    return error_at(token, fmt::format("{} needs {} values, {} are given", to_string(s.reduction),
                                       count, s.values.size()));
  }
  if (s.outputs.empty()) {
    std::vector<std::int64_t> shape;
    for (const Axis& axis : s.axes) shape.push_back(axis.extent);
    for (std::size_t i = 0; i < count; ++i) {
      s.outputs.push_back(make_buffer(i ? s.name + ".index" : s.name, s.values[i].type(), shape));
    }
  }
  for (const Buffer& output : s.outputs) buffers_.push_back(output);
  return s;
}

Result<Program> Parser::program() {
  Program p;
  if (!skip_word("program")) {
    return error_at(peek(), fmt::format("expected 'program', found {}", shown(peek())));
  }
  ATTUNE_ASSIGN(p.name, name("the name of the program"));
  ATTUNE_RETURN_IF_ERROR(expect("{"));
  while (!skip_symbol("}")) {
    if (at_word("input") || at_word("constant")) {
      const bool constant = next().text == "constant";
      ATTUNE_ASSIGN(Buffer buffer, declaration());
      buffers_.push_back(buffer);
      p.inputs.push_back({std::move(buffer), constant});
    } else if (skip_word("stage")) {
      ATTUNE_ASSIGN(Stage s, stage());
      p.stages.push_back(std::move(s));
    } else if (skip_word("output")) {
      const Token token = peek();
      ATTUNE_ASSIGN(const std::string wanted, name("the name of a tensor"));
      const Buffer buffer = find_buffer(wanted);
      if (!buffer) return error_at(token, fmt::format("tensor '{}' is not declared", wanted));
      p.outputs.push_back(buffer);
    } else {
      return error_at(
          peek(),
          fmt::format("expected input, constant, stage, output or '}}', found {}", shown(peek())));
    }
  }
  return p;
}

Result<Program> parse_program(std::string_view text) {
  ATTUNE_ASSIGN(std::vector<Token> tokens, tokenize(text));
  Parser parser(std::move(tokens), {});
  ATTUNE_ASSIGN(Program p, parser.program());
  ATTUNE_RETURN_IF_ERROR(parser.end());
  return p;
}

}  // namespace attune::ir
