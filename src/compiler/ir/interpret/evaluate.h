// The inside of interpret.h: expressions compiled to trees of function pointers over numbered slots
// for variables and memories. Vectors are evaluated lane by lane; scalars do not look at the lane.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/array.h"
#include "compiler/ir/nodes/expr.h"

namespace attune::ir {

// One element: `i` for integers and bool, `f` for floats, always holding a value of its type.
union Value {
  std::int64_t i;
  double f;
};

struct Frame;
struct Access;
struct Shadow;

struct Memory {
  std::vector<Value> values;
  std::vector<std::uint8_t> written;
  // Computes an element that was not written yet, if the memory is filled on demand.
  std::function<void(std::int64_t position, Frame& frame)> producer;
  // Who accessed what, while threads are watched.
  std::shared_ptr<Shadow> shadow;

  explicit Memory(std::int64_t count)
      : values(static_cast<std::size_t>(count)), written(static_cast<std::size_t>(count)) {}
  void assign(const Array& array);
  void assign(const Array& array, std::int64_t position);  // one element
  void copy_to(Array& array) const;
};

// Why a frame failed.
enum class Fault : std::uint8_t { OutOfBounds, Uninitialised, Misaligned, Divergent };

// Sees every access of threads that run side by side. A read or write is announced before it
// happens; a fault ends the run.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual void on_read(Frame& frame, const Access& access, std::int64_t position) = 0;
  virtual void on_write(Frame& frame, const Access& access, std::int64_t position, Value value) = 0;
  // A value that is copied asynchronously to an element; the end of a group of such copies; and
  // waiting until all but the newest `groups` of them have arrived.
  virtual void on_copy(Frame& frame, const Access& access, std::int64_t position, Value value) = 0;
  virtual void on_commit(Frame& frame) = 0;
  virtual void on_wait(Frame& frame, std::int64_t groups) = 0;
  // What the thread wrote to shared memory may be read by instructions of warpgroups.
  virtual void on_fence(Frame& frame) = 0;
  virtual void on_fault(Frame& frame, const Access& access, std::int64_t position, Fault fault,
                        const std::string& message) = 0;
};

// What an expression is evaluated in. After the first failure everything evaluates to 0.
struct Frame {
  std::vector<Value> variables;
  std::vector<std::shared_ptr<Memory>> memories;
  std::optional<Error>* failure = nullptr;
  Watch* watch = nullptr;
  int thread = 0;  // its number in the block

  bool failed() const { return failure->has_value(); }
  Value fail(std::string message);
};

struct Node;
struct Access {
  const BufferNode* buffer;
  std::size_t slot;
  std::vector<const Node*> index;
  std::vector<std::int64_t> strides;

  // The position of the element, or -1 after a failure.
  std::int64_t locate(Frame& frame, int lane, const char* action) const;
  std::string place(Frame& frame, int lane) const;
  // Ends the run; the frame's watch hears of it first.
  Value fail(Frame& frame, std::int64_t position, Fault fault, std::string message) const;
};

struct Node {
  using Function = Value (*)(const Node&, Frame&, int lane);
  Function function = nullptr;
  const Node* a = nullptr;
  const Node* b = nullptr;
  const Node* c = nullptr;
  Value constant{};
  DType type{};     // element type of the result
  DType operand{};  // element type of `a`
  int lanes = 1;    // of the vector that is reduced
  std::size_t slot = 0;
  double (*real)(double) = nullptr;
  const Access* access = nullptr;
  const ExprNode* source = nullptr;

  Value run(Frame& frame, int lane) const { return function(*this, frame, lane); }
};

Node::Function binary_function(BinOp op, DType operand);
// Null when the function is not defined on the type.
Node::Function math_function(MathFn fn, DType operand);
// The function of one real number that a MathFn is, or null.
double (*real_function(MathFn fn))(double);
Value convert(Value value, DType from, DType to);

// Compiles expressions against the variables and buffers in scope. Owns the compiled nodes.
class Evaluator {
 public:
  std::size_t push_variable(const std::string& name);
  void pop_variable() { scope_.pop_back(); }
  std::size_t add_buffer(const Buffer& buffer);

  Result<const Node*> compile(const Expr& e);
  Result<const Access*> compile_access(const Buffer& buffer, const std::vector<Expr>& index);
  // A frame with room for all variables and buffers so far.
  Frame make_frame(std::optional<Error>& failure) const;

 private:
  Result<const Node*> compile_node(const Expr& e);
  Status compile_variable(Node& node, const Var& x);
  Status compile_reduce(Node& node, const VectorReduce& x, DType type);
  Result<Node> compile_math(const Math& x, const Expr& e);
  Result<Node> compile_opaque(const Opaque& x, const Expr& e);
  Status compile_children(Node& node, const Expr* a, const Expr* b, const Expr* c);

  std::deque<Node> nodes_;
  std::deque<Access> accesses_;
  std::vector<std::pair<std::string, std::size_t>> scope_;
  std::unordered_map<const BufferNode*, std::size_t> buffers_;
  std::vector<Expr> sources_;  // keeps what nodes point to alive
  std::size_t variable_count_ = 0;
  std::size_t buffer_count_ = 0;
};

}  // namespace attune::ir
