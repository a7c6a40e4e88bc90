// The inside of parse.h: a recursive-descent parser over tokens.
#pragma once

#include <optional>

#include "compiler/ir/text/lexer.h"
#include "compiler/ir/text/parse.h"

namespace attune::ir {

class Parser {
 public:
  Parser(std::vector<Token> tokens, std::vector<Buffer> buffers)
      : tokens_(std::move(tokens)), buffers_(std::move(buffers)) {}

  Result<Expr> expr() { return infix(1); }
  // One statement, or a Block of the several up to the end or a closing brace.
  Result<Stmt> body();
  Result<Kernel> kernel();
  Result<Program> program();
  Status end();

 private:
  // Nesting deeper than any real program would exhaust the stack.
  static constexpr int kDeepest = 500;
  static constexpr int kLongest = 5000;
  struct Depth {
    explicit Depth(Parser& parser) : parser_(parser) { ++parser_.depth_; }
    ~Depth() { --parser_.depth_; }
    Parser& parser_;
  };

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  Token next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool at_symbol(std::string_view symbol, std::size_t ahead = 0) const;
  bool at_word(std::string_view word) const;  // an unquoted name
  bool skip_symbol(std::string_view symbol);
  bool skip_word(std::string_view word);
  Status expect(std::string_view symbol);
  Result<std::string> name(const char* what);
  Result<std::int64_t> integer(const char* what);
  Result<DType> type();
  Result<Buffer> declaration();
  Buffer find_buffer(const std::string& name) const;

  Result<Expr> infix(int weakest);
  Result<Expr> primary();
  Result<Expr> number(bool negative);
  Result<Expr> named(const Token& token);
  Result<Expr> real_word(bool negative);
  Result<Expr> call(const Token& function);
  Result<Expr> typed_call(const Token& function);
  Result<Expr> opaque_call();
  Result<Expr> access(const Token& token, const Buffer& buffer, std::vector<Expr> index);
  Result<std::vector<Expr>> list(std::string_view close);

  Result<Stmt> statement();
  Result<Stmt> loop();
  Result<Stmt> branch();
  Result<Stmt> allocation();
  Result<Stmt> binding();
  Result<Stmt> assignment();
  Result<Stmt> braces();  // "{", a body, "}"
  Result<std::vector<Stmt>> statements();

  Result<std::vector<Axis>> axes();
  Result<Stage> stage();
  Status values(Stage& stage);
  bool at_reduction() const;

  std::vector<Token> tokens_;
  std::vector<Buffer> buffers_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace attune::ir
