// Statements: the loop IR that lowering produces and code generators read. Immutable values over a
// closed set of nodes, shared by handle.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/nodes/expr.h"

namespace attune::ir {

enum class LoopKind : std::uint8_t { Serial, Parallel, Vectorized, Unrolled, Bound };

struct StmtNode;

class Stmt {
 public:
  Stmt() = default;
  explicit Stmt(std::shared_ptr<const StmtNode> node) : node_(std::move(node)) {}
  const StmtNode* operator->() const { return node_.get(); }
  const StmtNode& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  bool same(const Stmt& other) const { return node_ == other.node_; }

 private:
  std::shared_ptr<const StmtNode> node_;
};

// for var in [min, min + extent). `axis` names the hardware axis of a Bound loop ("block.x",
// "thread.x", "warp.lane"). `notes` are hints of the schedule that a pass or a code generator
// reads.
struct For {
  std::string var;
  Expr min, extent;
  LoopKind kind = LoopKind::Serial;
  std::string axis;
  std::vector<std::pair<std::string, std::string>> notes;
  Stmt body;
};
struct Store {
  Buffer buffer;
  std::vector<Expr> index;
  Expr value;
};
struct Block {
  std::vector<Stmt> stmts;
};  // in order
struct If {
  Expr condition;
  Stmt then_body, else_body;
};  // else_body may be empty
struct Allocate {
  Buffer buffer;
  Stmt body;
};  // the buffer exists within body, uninitialised
struct LetStmt {
  std::string var;
  Expr value;
  Stmt body;
};
struct Evaluate {
  Expr value;
};  // for the effect of an opaque intrinsic
struct Barrier {
  Scope scope;
};  // all threads of the enclosing bound axes meet; memory is visible

struct StmtNode {
  std::variant<For, Store, Block, If, Allocate, LetStmt, Evaluate, Barrier> kind;
};

template <typename Node>
const Node* as(const Stmt& s) {
  return s ? std::get_if<Node>(&s->kind) : nullptr;
}

template <typename Node>
Stmt make_stmt(Node node) {
  return Stmt(std::make_shared<const StmtNode>(StmtNode{std::move(node)}));
}

// A block of the non-empty statements, flattened; the statement itself when there is only one; an
// empty Block when there is none.
Stmt block(std::vector<Stmt> stmts);
Stmt for_loop(std::string var, Expr min, Expr extent, Stmt body, LoopKind kind = LoopKind::Serial);
Stmt store(Buffer buffer, std::vector<Expr> index, Expr value);
Stmt if_then(Expr condition, Stmt then_body, Stmt else_body = {});
Stmt allocate(Buffer buffer, Stmt body);
Stmt let(std::string var, Expr value, Stmt body);
Stmt evaluate(Expr value);

bool equal(const Stmt& a, const Stmt& b);

// A lowered function: reads and writes its parameters (in this order in the buffers array of the
// kernel ABI) and uses `workspace_bytes` of scratch memory.
struct Kernel {
  std::string name;
  std::vector<Buffer> params;
  Stmt body;
  std::int64_t workspace_bytes = 0;
};

}  // namespace attune::ir
