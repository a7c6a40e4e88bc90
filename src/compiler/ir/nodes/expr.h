// Expressions: immutable values over a closed set of nodes, shared by handle. The same expressions
// serve tensor expressions (indices are axes of a stage) and the loop IR (indices are loop
// variables). Integer division and remainder round towards minus infinity; And/Or are not
// short-circuit, but Select evaluates only the chosen side, so it may guard an out-of-range Load.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/ir/nodes/buffer.h"

namespace attune::ir {

struct ExprNode;

// A handle to an immutable node; empty only when default-constructed.
class Expr {
 public:
  Expr() = default;
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}
  Expr(std::int64_t index);  // an i64 constant
  Expr(int index) : Expr(static_cast<std::int64_t>(index)) {}

  const ExprNode* operator->() const { return node_.get(); }
  const ExprNode& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  // The same node, not merely an equal one.
  bool same(const Expr& other) const { return node_ == other.node_; }
  inline DType type() const;

 private:
  std::shared_ptr<const ExprNode> node_;
};

// Eq to Ge give bool, And and Or are on bool.
enum class BinOp : std::uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Min,
  Max,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or,
  BitAnd,
  BitOr,
  BitXor,
  Shl,
  Shr
};

// Mathematical functions of one element (or lane). Round is half to even; Pow and Fma take two and
// three arguments; Bitcast reinterprets the bits as the node's type.
enum class MathFn : std::uint8_t {
  Neg,
  Not,
  BitNot,
  Abs,
  Sign,
  Floor,
  Ceil,
  Round,
  Trunc,
  Sqrt,
  Rsqrt,
  Exp,
  Log,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Erf,
  Sigmoid,
  Pow,
  Fma,
  IsNan,
  IsInf,
  Bitcast
};

struct IntImm {
  std::int64_t value;
};
struct FloatImm {
  double value;
};
struct Var {
  std::string name;
};
struct Binary {
  BinOp op;
  Expr lhs, rhs;
};
struct Math {
  MathFn fn;
  std::vector<Expr> args;
};
struct Select {
  Expr condition, if_true, if_false;
};
struct Cast {
  Expr value;
};  // to the node's type; float to int truncates and saturates
struct Load {
  Buffer buffer;
  std::vector<Expr> index;
};
struct Ramp {
  Expr base, stride;
};  // lanes of the node's type: base + lane * stride
struct Broadcast {
  Expr value;
};  // to the lanes of the node's type
struct VectorReduce {
  BinOp op;
  Expr value;
};  // Add, Mul, Min, Max over the lanes
// A named operation that passes treat as a black box; its declaration is in intrinsics.h.
struct Opaque {
  std::string name;
  std::vector<Expr> args;
};

struct ExprNode {
  DType type;
  std::variant<IntImm, FloatImm, Var, Binary, Math, Select, Cast, Load, Ramp, Broadcast,
               VectorReduce, Opaque>
      kind;
};

inline DType Expr::type() const { return node_->type; }

template <typename Node>
const Node* as(const Expr& e) {
  return e ? std::get_if<Node>(&e->kind) : nullptr;
}

// Builders. They check types (CHECK) and fold nothing but constants of index arithmetic.
Expr int_imm(std::int64_t value, DType type = kIndex);
Expr float_imm(double value, DType type = kF32);
Expr bool_imm(bool value);
Expr zero_of(DType type);  // 0 with the type's kind and lanes
Expr var(std::string name, DType type = kIndex);
Expr binary(BinOp op, Expr lhs, Expr rhs);
Expr math(MathFn fn, std::vector<Expr> args);
Expr bitcast(DType type, Expr value);
Expr select(Expr condition, Expr if_true, Expr if_false);
Expr cast(DType type, Expr value);  // the value itself when the type is already right
Expr load(Buffer buffer, std::vector<Expr> index);
Expr ramp(Expr base, Expr stride, int lanes);
Expr broadcast(Expr value, int lanes);
Expr vector_reduce(BinOp op, Expr value);
Expr opaque(std::string name, DType type, std::vector<Expr> args);

inline Expr operator+(Expr a, Expr b) { return binary(BinOp::Add, std::move(a), std::move(b)); }
inline Expr operator-(Expr a, Expr b) { return binary(BinOp::Sub, std::move(a), std::move(b)); }
inline Expr operator*(Expr a, Expr b) { return binary(BinOp::Mul, std::move(a), std::move(b)); }
inline Expr operator/(Expr a, Expr b) { return binary(BinOp::Div, std::move(a), std::move(b)); }
inline Expr operator%(Expr a, Expr b) { return binary(BinOp::Mod, std::move(a), std::move(b)); }
inline Expr operator<(Expr a, Expr b) { return binary(BinOp::Lt, std::move(a), std::move(b)); }
inline Expr operator<=(Expr a, Expr b) { return binary(BinOp::Le, std::move(a), std::move(b)); }
inline Expr operator>(Expr a, Expr b) { return binary(BinOp::Gt, std::move(a), std::move(b)); }
inline Expr operator>=(Expr a, Expr b) { return binary(BinOp::Ge, std::move(a), std::move(b)); }
inline Expr operator==(Expr a, Expr b) { return binary(BinOp::Eq, std::move(a), std::move(b)); }
inline Expr operator&&(Expr a, Expr b) { return binary(BinOp::And, std::move(a), std::move(b)); }
inline Expr operator||(Expr a, Expr b) { return binary(BinOp::Or, std::move(a), std::move(b)); }
inline Expr min(Expr a, Expr b) { return binary(BinOp::Min, std::move(a), std::move(b)); }
inline Expr max(Expr a, Expr b) { return binary(BinOp::Max, std::move(a), std::move(b)); }

// The constant an integer (or bool) expression is, if it is one.
const std::int64_t* as_int(const Expr& e);
bool is_const_int(const Expr& e, std::int64_t value);
bool is_comparison(BinOp op);
std::int64_t floor_div(std::int64_t a, std::int64_t b);
std::int64_t floor_mod(std::int64_t a, std::int64_t b);

// Structural equality (buffers by identity, variables by name).
bool equal(const Expr& a, const Expr& b);

}  // namespace attune::ir
