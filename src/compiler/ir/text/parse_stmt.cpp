#include <fmt/format.h>

#include "compiler/ir/text/names.h"
#include "compiler/ir/text/parser.h"

namespace attune::ir {

// "NAME: TYPE[SHAPE] SCOPE"
Result<Buffer> Parser::declaration() {
  ATTUNE_ASSIGN(std::string of, name("the name of a buffer"));
  ATTUNE_RETURN_IF_ERROR(expect(":"));
  ATTUNE_ASSIGN(const DType element, type());
  ATTUNE_RETURN_IF_ERROR(expect("["));
  std::vector<std::int64_t> shape;
  if (!skip_symbol("]")) {
    do {
      ATTUNE_ASSIGN(const std::int64_t extent, integer("an extent"));
      shape.push_back(extent);
    } while (skip_symbol(","));
    ATTUNE_RETURN_IF_ERROR(expect("]"));
  }
  Scope scope = Scope::Global;
  if (peek().kind == Token::Kind::Name) {
    if (const auto found = parse_scope(peek().text)) {
      scope = *found;
      next();
    }
  }
  return make_buffer(std::move(of), element, std::move(shape), scope);
}

Result<std::vector<Stmt>> Parser::statements() {
  std::vector<Stmt> stmts;
  while (peek().kind != Token::Kind::End && !at_symbol("}")) {
    ATTUNE_ASSIGN(Stmt s, statement());
    stmts.push_back(std::move(s));
  }
  return stmts;
}

Result<Stmt> Parser::body() {
  ATTUNE_ASSIGN(std::vector<Stmt> stmts, statements());
  if (stmts.size() == 1) return stmts[0];
  return make_stmt(Block{std::move(stmts)});
}

Result<Stmt> Parser::braces() {
  ATTUNE_RETURN_IF_ERROR(expect("{"));
  ATTUNE_ASSIGN(Stmt inside, body());
  ATTUNE_RETURN_IF_ERROR(expect("}"));
  return inside;
}

Result<Stmt> Parser::statement() {
  const Depth depth(*this);
  if (depth_ > kDeepest) return error_at(peek(), "nested too deeply");
  if (skip_symbol("{")) {
    ATTUNE_ASSIGN(std::vector<Stmt> stmts, statements());
    ATTUNE_RETURN_IF_ERROR(expect("}"));
    return make_stmt(Block{std::move(stmts)});
  }
  if (skip_word("if")) return branch();
  if (skip_word("alloc")) return allocation();
  if (skip_word("let")) return binding();
  if (skip_word("eval")) {
    ATTUNE_ASSIGN(Expr value, expr());
    return evaluate(std::move(value));
  }
  if (skip_word("barrier")) {
    const Token token = next();
    const auto scope = parse_scope(token.text);
    if (scope) return make_stmt(Barrier{*scope});
    return error_at(token, fmt::format("expected a memory scope, found {}", shown(token)));
  }
  const bool word = peek().kind == Token::Kind::Name;
  if (word && (at_word("for") || parse_loop_kind(peek().text))) return loop();
  return assignment();
}

Result<Stmt> Parser::loop() {
  For x;
  if (const auto kind = parse_loop_kind(peek().text)) {
    x.kind = *kind;
    next();
  }
  if (!skip_word("for")) {
    return error_at(peek(), fmt::format("expected 'for', found {}", shown(peek())));
  }
  ATTUNE_ASSIGN(x.var, name("a loop variable"));
  if (!skip_word("in")) {
    return error_at(peek(), fmt::format("expected 'in', found {}", shown(peek())));
  }
  ATTUNE_ASSIGN(x.extent, expr());
  x.min = Expr(0);
  if (skip_word("from")) {
    ATTUNE_ASSIGN(x.min, expr());
  }
  if (skip_word("on")) {
    ATTUNE_ASSIGN(x.axis, name("an axis"));
  }
  if (skip_word("with")) {
    do {
      ATTUNE_ASSIGN(std::string key, name("a note"));
      ATTUNE_RETURN_IF_ERROR(expect("="));
      ATTUNE_ASSIGN(std::string value, name("the text of a note"));
      x.notes.emplace_back(std::move(key), std::move(value));
    } while (skip_symbol(","));
  }
  ATTUNE_ASSIGN(x.body, braces());
  return make_stmt(std::move(x));
}

Result<Stmt> Parser::branch() {
  const Token token = peek();
  ATTUNE_RETURN_IF_ERROR(expect("("));
  ATTUNE_ASSIGN(Expr condition, expr());
  ATTUNE_RETURN_IF_ERROR(expect(")"));
  if (condition.type() != kBool) {
    return error_at(token,
                    fmt::format("the condition is {}, not bool", to_string(condition.type())));
  }
  ATTUNE_ASSIGN(Stmt then_body, braces());
  Stmt else_body;
  if (skip_word("else")) {
    ATTUNE_ASSIGN(else_body, braces());
  }
  return if_then(std::move(condition), std::move(then_body), std::move(else_body));
}

Result<Stmt> Parser::allocation() {
  ATTUNE_ASSIGN(const Buffer buffer, declaration());
  buffers_.push_back(buffer);
  ATTUNE_ASSIGN(Stmt inside, braces());
  buffers_.pop_back();
  return allocate(buffer, std::move(inside));
}

Result<Stmt> Parser::binding() {
  ATTUNE_ASSIGN(std::string variable, name("a variable"));
  ATTUNE_RETURN_IF_ERROR(expect("="));
  ATTUNE_ASSIGN(Expr value, expr());
  ATTUNE_ASSIGN(Stmt inside, braces());
  return let(std::move(variable), std::move(value), std::move(inside));
}

Result<Stmt> Parser::assignment() {
  const Token token = peek();
  ATTUNE_ASSIGN(const std::string target, name("a statement"));
  ATTUNE_RETURN_IF_ERROR(expect("["));
  ATTUNE_ASSIGN(std::vector<Expr> index, list("]"));
  ATTUNE_RETURN_IF_ERROR(expect("="));
  ATTUNE_ASSIGN(Expr value, expr());
  const Buffer buffer = find_buffer(target);
  if (!buffer) return error_at(token, fmt::format("buffer '{}' is not declared", target));
  ATTUNE_ASSIGN(const Expr place, access(token, buffer, std::move(index)));
  return store(buffer, as<Load>(place)->index, std::move(value));
}

Result<Kernel> Parser::kernel() {
  Kernel k;
  if (!skip_word("kernel")) {
    return error_at(peek(), fmt::format("expected 'kernel', found {}", shown(peek())));
  }
  ATTUNE_ASSIGN(k.name, name("the name of the kernel"));
  ATTUNE_RETURN_IF_ERROR(expect("("));
  if (!skip_symbol(")")) {
    do {
      ATTUNE_ASSIGN(Buffer param, declaration());
      buffers_.push_back(param);
      k.params.push_back(std::move(param));
    } while (skip_symbol(","));
    ATTUNE_RETURN_IF_ERROR(expect(")"));
  }
  if (skip_word("workspace")) {
    ATTUNE_ASSIGN(k.workspace_bytes, integer("a number of bytes"));
  }
  ATTUNE_ASSIGN(k.body, braces());
  return k;
}

Result<Stmt> parse_stmt(std::string_view text, const std::vector<Buffer>& buffers) {
  ATTUNE_ASSIGN(std::vector<Token> tokens, tokenize(text));
  Parser parser(std::move(tokens), buffers);
  ATTUNE_ASSIGN(Stmt s, parser.body());
  ATTUNE_RETURN_IF_ERROR(parser.end());
  return s;
}

Result<Kernel> parse_kernel(std::string_view text) {
  ATTUNE_ASSIGN(std::vector<Token> tokens, tokenize(text));
  Parser parser(std::move(tokens), {});
  ATTUNE_ASSIGN(Kernel k, parser.kernel());
  ATTUNE_RETURN_IF_ERROR(parser.end());
  return k;
}

}  // namespace attune::ir
