// Statements.
#include <fmt/format.h>

#include <unordered_set>

#include "base/check.h"
#include "base/match.h"
#include "compiler/codegen/c_text/printer.h"
#include "compiler/codegen/walk.h"
#include "compiler/ir/nodes/intrinsics.h"

namespace attune::c_text {

Printer::Printer(const ir::Stmt& body, const codegen::StoragePlan& plan,
                 std::span<const std::string_view> words)
    : plan_(plan), names_(words) {
  codegen::walk(
      body,
      [&](const ir::Stmt& s) {
        if (const auto* x = ir::as<ir::Store>(s)) stored_.insert(x->buffer.get());
      },
      [](const Expr&) {});
}

void Printer::barrier(const ir::Barrier&) { CHECK(false, "a kernel in C has no barriers"); }

void Printer::may_be_unused(const std::string& name) { text_.line(fmt::format("(void){};", name)); }

std::string Printer::variable_type(DType type, const codegen::VarFacts&) const {
  return value_type(type);
}

void Printer::count_uses(const Expr& e) {
  if (++uses_[&*e] > 1) return;
  std::visit(Match{
                 [](const ir::IntImm&) {},
                 [](const ir::FloatImm&) {},
                 [](const ir::Var&) {},
                 [&](const ir::Binary& x) {
                   count_uses(x.lhs);
                   count_uses(x.rhs);
                 },
                 [&](const ir::Math& x) {
                   for (const Expr& arg : x.args) count_uses(arg);
                 },
                 [&](const ir::Select& x) {
                   count_uses(x.condition);
                   count_uses(x.if_true);
                   count_uses(x.if_false);
                 },
                 [&](const ir::Cast& x) { count_uses(x.value); },
                 [](const ir::Load&) {},
                 [](const ir::Ramp&) {},
                 [&](const ir::Broadcast& x) { count_uses(x.value); },
                 [&](const ir::VectorReduce& x) { count_uses(x.value); },
                 [](const ir::Opaque&) {},
             },
             e->kind);
}

bool Printer::is_shared(const Expr& e) const {
  if (in_index_ || ir::as<ir::IntImm>(e) || ir::as<ir::FloatImm>(e) || ir::as<ir::Var>(e)) {
    return false;
  }
  const auto found = uses_.find(&*e);
  return found != uses_.end() && found->second > 1;
}

void Printer::statement(const ir::Stmt& s) {
  memo_.clear();
  uses_.clear();
  before(s);
  std::visit(Match{
                 [&](const ir::For& x) { loop(x); },
                 [&](const ir::Store& x) { store(x); },
                 [&](const ir::Block& x) {
                   for (const ir::Stmt& child : x.stmts) statement(child);
                 },
                 [&](const ir::If& x) { branch(x); },
                 [&](const ir::Allocate& x) { allocate(x); },
                 [&](const ir::LetStmt& x) { let(x); },
                 [&](const ir::Evaluate& x) {
                   if (const auto* call = ir::as<ir::Opaque>(x.value)) opaque(*call);
                 },
                 [&](const ir::Barrier& x) { barrier(x); },
             },
             s->kind);
  memo_.clear();
  uses_.clear();
}

void Printer::branch(const ir::If& x) {
  count_uses(x.condition);
  const std::string condition = scalar(x.condition);
  const auto bases = load_bases_;
  text_.open(fmt::format("if ({})", unwrapped(condition)));
  statement(x.then_body);
  load_bases_ = bases;
  text_.close();
  if (!x.else_body) return;
  text_.open("else");
  statement(x.else_body);
  load_bases_ = bases;
  text_.close();
}

void Printer::with_facts(const std::string& var, const codegen::VarFacts& facts,
                         const std::function<void()>& body) {
  const auto known = facts_.find(var);
  const auto hidden = known == facts_.end() ? std::nullopt : std::optional(known->second);
  facts_[var] = facts;
  ++depth_;
  body();
  --depth_;
  if (hidden) {
    facts_[var] = *hidden;
  } else {
    facts_.erase(var);
  }
}

void Printer::let(const ir::LetStmt& x) {
  const DType type = x.value.type();
  const bool is_index = type == ir::kIndex;
  codegen::VarFacts facts;
  facts.depth = depth_ + 1;
  if (is_index) {
    facts.range = codegen::range_of(x.value, facts_);
    facts.divisor = codegen::divisor_of(x.value, facts_);
  }
  text_.open("");
  count_uses(x.value);
  // The value may speak of an outer variable of the same name.
  std::string value = names_.fresh();
  const std::string& name = names_.of(x.var);
  if (type.is_scalar()) {
    const std::string type_name = variable_type(type, facts);
    text_.line(fmt::format("const {} {} = {};", type_name, value,
                           is_index ? index(x.value) : scalar(x.value)));
    text_.open("");
    text_.line(fmt::format("const {} {} = {};", type_name, name, value));
  } else {
    const std::string text = type.is_bool() ? mask(x.value, 8) : lanes(x.value);
    const std::string tag = vector_tag(type.is_bool() ? "i8" : value_tag(type), type.lanes);
    const int count = type.lanes;
    text_.line(fmt::format("{}({}, {}, {}, {});", macro("LET", count), tag, count, value, text));
    text_.open("");
    text_.line(fmt::format("{}({}, {}, {}, {}({}));", macro("LET", count), tag, count, name,
                           macro("L", count), value));
  }
  may_be_unused(name);
  const auto outer = vars_;
  vars_[x.var] = type;
  with_facts(x.var, facts, [&] { statement(x.body); });
  vars_ = outer;
  text_.close();
  text_.close();
}

codegen::VarFacts Printer::facts_of(const ir::For& x) const {
  codegen::VarFacts facts;
  facts.depth = depth_ + 1;
  const auto first = codegen::range_of(x.min, facts_), count = codegen::range_of(x.extent, facts_);
  if (first && count) {
    facts.range =
        codegen::Interval{first->min, first->max + std::max<std::int64_t>(count->max, 1) - 1};
  }
  if (ir::is_const_int(x.extent, 1)) facts.divisor = codegen::divisor_of(x.min, facts_);
  return facts;
}

void Printer::loop(const ir::For& x) { serial_loop(x, ""); }

void Printer::serial_loop(const ir::For& x, const std::string& pragma) {
  const std::int64_t* extent = ir::as_int(x.extent);
  const std::int64_t* first = ir::as_int(x.min);
  if (extent && *extent <= 0) return;
  const std::string& name = names_.of(x.var);
  const std::string type = variable_type(ir::kIndex, facts_of(x));
  if (extent && first && *extent > 1) {
    if (!pragma.empty()) text_.line(pragma);
    text_.open(
        fmt::format("for ({3} {0} = {1}; {0} < {2}; ++{0})", name, *first, *first + *extent, type));
    loop_body(x);
    text_.close();
    return;
  }
  // Bounds may speak of an outer variable of the same name.
  const std::string start = names_.fresh();
  text_.open("");
  text_.line(fmt::format("const {} {} = {};", type, start, index(x.min)));
  if (extent && *extent == 1) {
    text_.line(fmt::format("const {} {} = {};", type, name, start));
    may_be_unused(name);
    loop_body(x);
  } else {
    const std::string stop = names_.fresh();
    text_.line(fmt::format("const {} {} = {} + {};", type, stop, start, index(x.extent)));
    if (!pragma.empty()) text_.line(pragma);
    text_.open(fmt::format("for ({3} {0} = {1}; {0} < {2}; ++{0})", name, start, stop, type));
    loop_body(x);
    text_.close();
  }
  text_.close();
}

void Printer::loop_body(const ir::For& x) {
  const codegen::VarFacts facts = facts_of(x);
  const auto outer = vars_;
  const auto bases = load_bases_;
  vars_[x.var] = ir::kIndex;
  with_facts(x.var, facts, [&] { statement(x.body); });
  vars_ = outer;
  load_bases_ = bases;
}

}  // namespace attune::c_text
