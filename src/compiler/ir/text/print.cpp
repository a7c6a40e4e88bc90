#include "compiler/ir/text/print.h"

#include <charconv>
#include <cmath>

#include "base/hash.h"
#include "base/match.h"
#include "compiler/ir/text/names.h"

namespace attune::ir {
namespace {

class Printer {
 public:
  explicit Printer(int indent = 0) : indent_(indent) {}

  std::string take() { return std::move(out_); }
  void expr(const Expr& e, int context = 0);
  void stmt(const Stmt& s);
  void kernel(const Kernel& kernel);
  void program(const Program& program);

 private:
  void number(std::int64_t value);
  void constant(const IntImm& x, DType type);
  void constant(const FloatImm& x, DType type);
  void real(double value);
  void list(const std::vector<Expr>& items);
  void call(std::string_view name, const std::vector<Expr>& args);
  void buffer(const BufferNode& buffer);
  void shape(const std::vector<std::int64_t>& extents);
  void axes(const std::vector<Axis>& axes);
  void stage(const Stage& stage);
  void line() { out_.append(static_cast<std::size_t>(indent_), ' '); }
  void loop(const For& x);
  // " {", the statements of a body one step deeper, "}".
  void body(const Stmt& s);
  void name(std::string_view text) { out_ += quoted_if_needed(text); }

  std::string out_;
  int indent_;
};

void Printer::number(std::int64_t value) {
  char text[24];
  out_.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// The shortest digits that read back as the same number.
void Printer::real(double value) {
  char text[40];
  const std::string_view digits(
      text, static_cast<std::size_t>(std::to_chars(text, text + sizeof text, value).ptr - text));
  out_ += digits;
  if (digits.find_first_of(".e") == std::string_view::npos) out_ += ".0";
}

void Printer::list(const std::vector<Expr>& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i) out_ += ", ";
    expr(items[i]);
  }
}

void Printer::call(std::string_view function, const std::vector<Expr>& args) {
  out_ += function;
  out_ += '(';
  list(args);
  out_ += ')';
}

void Printer::constant(const IntImm& x, DType type) {
  if (type.is_bool()) {
    out_ += x.value ? "true" : "false";
    return;
  }
  number(x.value);
  if (type != kIndex) out_ += ir::to_string(type);
}

void Printer::constant(const FloatImm& x, DType type) {
  if (std::isfinite(x.value)) {
    real(x.value);
  } else {
    out_ += std::isnan(x.value) ? "nan:" : (x.value < 0 ? "-inf:" : "inf:");
  }
  out_ += ir::to_string(type);
}

// `context` is the precedence of the surrounding operator; weaker ones get parentheses.
void Printer::expr(const Expr& e, int context) {
  std::visit(Match{
                 [&](const IntImm& x) { constant(x, e.type()); },
                 [&](const FloatImm& x) { constant(x, e.type()); },
                 [&](const Var& x) {
                   name(x.name);
                   if (e.type() != kIndex) out_ += ":" + ir::to_string(e.type());
                 },
                 [&](const Binary& x) {
                   const int strength = precedence(x.op);
                   if (strength == 0) return call(ir::to_string(x.op), {x.lhs, x.rhs});
                   if (strength < context) out_ += '(';
                   expr(x.lhs, strength);
                   out_ += ' ';
                   out_ += ir::to_string(x.op);
                   out_ += ' ';
                   expr(x.rhs, strength + 1);
                   if (strength < context) out_ += ')';
                 },
                 [&](const Math& x) {
                   out_ += ir::to_string(x.fn);
                   if (x.fn == MathFn::Bitcast) out_ += "<" + ir::to_string(e.type()) + ">";
                   call("", x.args);
                 },
                 [&](const Select& x) {
                   call("select", {x.condition, x.if_true, x.if_false});
                 },
                 [&](const Cast& x) { call("cast<" + ir::to_string(e.type()) + ">", {x.value}); },
                 [&](const Load& x) {
                   name(x.buffer->name);
                   out_ += '[';
                   list(x.index);
                   out_ += ']';
                 },
                 [&](const Ramp& x) {
                   call("ramp", {x.base, x.stride, int_imm(e.type().lanes)});
                 },
                 [&](const Broadcast& x) {
                   call("broadcast", {x.value, int_imm(e.type().lanes)});
                 },
                 [&](const VectorReduce& x) {
                   out_ += "reduce_";
                   call(reduce_name(x.op), {x.value});
                 },
                 [&](const Opaque& x) {
                   out_ += '@';
                   name(x.name);
                   out_ += "<" + ir::to_string(e.type()) + ">";
                   call("", x.args);
                 },
             },
             e->kind);
}

void Printer::shape(const std::vector<std::int64_t>& extents) {
  out_ += '[';
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (i) out_ += ", ";
    number(extents[i]);
  }
  out_ += ']';
}

void Printer::buffer(const BufferNode& b) {
  name(b.name);
  out_ += ": " + ir::to_string(b.type);
  shape(b.shape);
  if (b.scope == Scope::Global) return;
  out_ += ' ';
  out_ += ir::to_string(b.scope);
}

void Printer::body(const Stmt& s) {
  out_ += " {\n";
  indent_ += 2;
  const auto* b = as<Block>(s);
  // A block of one statement is written as such, so that it is not taken for the statement.
  if (b && b->stmts.size() != 1) {
    for (const Stmt& child : b->stmts) stmt(child);
  } else if (s) {
    stmt(s);
  }
  indent_ -= 2;
  line();
  out_ += '}';
}

void Printer::loop(const For& x) {
  if (x.kind != LoopKind::Serial) {
    out_ += ir::to_string(x.kind);
    out_ += ' ';
  }
  out_ += "for ";
  name(x.var);
  out_ += " in ";
  expr(x.extent);
  if (!is_const_int(x.min, 0)) {
    out_ += " from ";
    expr(x.min);
  }
  if (!x.axis.empty()) {
    out_ += " on ";
    name(x.axis);
  }
  if (!x.notes.empty()) {
    out_ += " with ";
    for (std::size_t i = 0; i < x.notes.size(); ++i) {
      if (i) out_ += ", ";
      name(x.notes[i].first);
      out_ += " = ";
      name(x.notes[i].second);
    }
  }
  body(x.body);
}

void Printer::stmt(const Stmt& s) {
  line();
  std::visit(Match{
                 [&](const For& x) { loop(x); },
                 [&](const Store& x) {
                   name(x.buffer->name);
                   out_ += '[';
                   list(x.index);
                   out_ += "] = ";
                   expr(x.value);
                 },
                 [&](const Block& x) {
                   out_ += "{\n";
                   indent_ += 2;
                   for (const Stmt& child : x.stmts) stmt(child);
                   indent_ -= 2;
                   line();
                   out_ += '}';
                 },
                 [&](const If& x) {
                   out_ += "if (";
                   expr(x.condition);
                   out_ += ')';
                   body(x.then_body);
                   if (!x.else_body) return;
                   out_ += " else";
                   body(x.else_body);
                 },
                 [&](const Allocate& x) {
                   out_ += "alloc ";
                   buffer(*x.buffer);
                   body(x.body);
                 },
                 [&](const LetStmt& x) {
                   out_ += "let ";
                   name(x.var);
                   out_ += " = ";
                   expr(x.value);
                   body(x.body);
                 },
                 [&](const Evaluate& x) {
                   out_ += "eval ";
                   expr(x.value);
                 },
                 [&](const Barrier& x) {
                   out_ += "barrier ";
                   out_ += ir::to_string(x.scope);
                 },
             },
             s->kind);
  out_ += '\n';
}

void Printer::kernel(const Kernel& k) {
  out_ += "kernel ";
  name(k.name);
  out_ += '(';
  for (std::size_t i = 0; i < k.params.size(); ++i) {
    if (i) out_ += ", ";
    buffer(*k.params[i]);
  }
  out_ += ')';
  if (k.workspace_bytes) {
    out_ += " workspace ";
    number(k.workspace_bytes);
  }
  body(k.body);
  out_ += '\n';
}

void Printer::axes(const std::vector<Axis>& list) {
  out_ += '(';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i) out_ += ", ";
    name(list[i].name);
    out_ += ": ";
    number(list[i].extent);
  }
  out_ += ')';
}

void Printer::stage(const Stage& s) {
  out_ += "  stage ";
  name(s.name);
  axes(s.axes);
  // The buffers follow from the rest unless someone named them otherwise.
  bool usual = s.outputs.size() == s.values.size();
  for (std::size_t i = 0; usual && i < s.outputs.size(); ++i) {
    const BufferNode& b = *s.outputs[i];
    usual = b.name == (i ? s.name + ".index" : s.name) && b.type == s.values[i].type() &&
            b.scope == Scope::Global && b.shape.size() == s.axes.size();
    for (std::size_t d = 0; usual && d < s.axes.size(); ++d) {
      usual = b.shape[d] == s.axes[d].extent;
    }
  }
  if (!usual) {
    for (std::size_t i = 0; i < s.outputs.size(); ++i) {
      out_ += i ? ", " : " -> ";
      buffer(*s.outputs[i]);
    }
  }
  out_ += " = ";
  if (s.reduction != Reduction::None) {
    out_ += ir::to_string(s.reduction);
    axes(s.reduce_axes);
    out_ += ' ';
  }
  if (s.values.size() == 1) {
    expr(s.values[0]);
  } else {
    call("", s.values);
  }
  out_ += '\n';
}

void Printer::program(const Program& p) {
  out_ += "program ";
  name(p.name);
  out_ += " {\n";
  for (const Input& input : p.inputs) {
    out_ += input.constant ? "  constant " : "  input ";
    buffer(*input.buffer);
    out_ += '\n';
  }
  for (const Stage& s : p.stages) stage(s);
  for (const Buffer& output : p.outputs) {
    out_ += "  output ";
    name(output->name);
    out_ += '\n';
  }
  out_ += "}\n";
}

}  // namespace

std::string to_string(const Expr& e) {
  Printer printer;
  printer.expr(e);
  return printer.take();
}

std::string to_string(const Stmt& s, int indent) {
  Printer printer(indent);
  printer.stmt(s);
  return printer.take();
}

std::string to_string(const Kernel& kernel) {
  Printer printer;
  printer.kernel(kernel);
  return printer.take();
}

std::string to_string(const Program& program) {
  Printer printer;
  printer.program(program);
  return printer.take();
}

std::uint64_t hash(const Program& program) {
  Program unnamed = program;
  unnamed.name = "program";
  return hash_bytes(to_string(unnamed));
}

}  // namespace attune::ir
