// Traversal and rewriting. A rewriter names only the nodes it changes and calls map_children for
// the rest; unchanged subtrees are shared with the original.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "compiler/ir/nodes/stmt.h"

namespace attune::ir {

using ExprFn = std::function<Expr(const Expr&)>;
using StmtFn = std::function<Stmt(const Stmt&)>;
using Bindings = std::map<std::string, Expr, std::less<>>;

Expr map_children(const Expr& e, const ExprFn& f);
// Maps the direct child statements with `f` and the expressions they hold directly with `g`.
Stmt map_children(const Stmt& s, const StmtFn& f, const ExprFn& g);

// Calls `f` on e and everything below it, outside first.
void visit(const Expr& e, const std::function<void(const Expr&)>& f);
void visit(const Stmt& s, const std::function<void(const Stmt&)>& f,
           const std::function<void(const Expr&)>& g);

// Replaces free variables by expressions, all at once.
Expr substitute(const Expr& e, const Bindings& bindings);
Stmt substitute(const Stmt& s, const Bindings& bindings);
// Replaces loads of `buffer`: `f` gets the index and gives the new value.
Expr replace_loads(const Expr& e, const Buffer& buffer,
                   const std::function<Expr(const std::vector<Expr>&)>& f);

bool uses_var(const Expr& e, const std::string& name);
std::set<std::string> free_vars(const Expr& e);

}  // namespace attune::ir
