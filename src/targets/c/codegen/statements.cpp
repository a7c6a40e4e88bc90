// Statements.
#include <fmt/format.h>

#include <unordered_set>

#include "base/check.h"
#include "base/match.h"
#include "compiler/codegen/walk.h"
#include "compiler/ir/nodes/intrinsics.h"
#include "targets/c/codegen/printer.h"

namespace attune::c {

void KernelPrinter::count_uses(const Expr& e) {
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

bool KernelPrinter::is_shared(const Expr& e) const {
  if (in_index_ || ir::as<ir::IntImm>(e) || ir::as<ir::FloatImm>(e) || ir::as<ir::Var>(e)) {
    return false;
  }
  const auto found = uses_.find(&*e);
  return found != uses_.end() && found->second > 1;
}

void KernelPrinter::statement(const ir::Stmt& s) {
  memo_.clear();
  uses_.clear();
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
                 [&](const ir::Barrier&) { CHECK(false, "a kernel in C has no barriers"); },
             },
             s->kind);
  memo_.clear();
  uses_.clear();
}

void KernelPrinter::branch(const ir::If& x) {
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

void KernelPrinter::with_facts(const std::string& var, const codegen::VarFacts& facts,
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

void KernelPrinter::let(const ir::LetStmt& x) {
  const DType type = x.value.type();
  const bool is_index = type == ir::kIndex;
  text_.open("");
  count_uses(x.value);
  // The value may speak of an outer variable of the same name.
  std::string value = names_.fresh();
  const std::string& name = names_.of(x.var);
  if (type.is_scalar()) {
    text_.line(fmt::format("const {} {} = {};", value_type(type), value,
                           is_index ? index(x.value) : scalar(x.value)));
    text_.open("");
    text_.line(fmt::format("const {} {} = {};", value_type(type), name, value));
  } else {
    const std::string text = type.is_bool() ? mask(x.value, 8) : lanes(x.value);
    const std::string tag = vector_tag(type.is_bool() ? "i8" : value_tag(type), type.lanes);
    const int count = type.lanes;
    text_.line(fmt::format("{}({}, {}, {}, {});", macro("LET", count), tag, count, value, text));
    text_.open("");
    text_.line(fmt::format("{}({}, {}, {}, {}({}));", macro("LET", count), tag, count, name,
                           macro("L", count), value));
  }
  text_.line(fmt::format("(void){};", name));
  codegen::VarFacts facts;
  facts.depth = depth_ + 1;
  if (is_index) {
    facts.range = codegen::range_of(x.value, facts_);
    facts.divisor = codegen::divisor_of(x.value, facts_);
  }
  const auto outer = vars_;
  vars_[x.var] = type;
  with_facts(x.var, facts, [&] { statement(x.body); });
  vars_ = outer;
  text_.close();
  text_.close();
}

void KernelPrinter::loop(const ir::For& x) {
  if (x.kind == ir::LoopKind::Parallel && !in_task_) {
    parallel_loop(x);
    return;
  }
  const std::int64_t* extent = ir::as_int(x.extent);
  const std::int64_t* first = ir::as_int(x.min);
  if (extent && *extent <= 0) return;
  const std::string& name = names_.of(x.var);
  if (extent && first && *extent > 1) {
    text_.open(
        fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", name, *first, *first + *extent));
    loop_body(x);
    text_.close();
    return;
  }
  // Bounds may speak of an outer variable of the same name.
  const std::string start = names_.fresh();
  text_.open("");
  text_.line(fmt::format("const int64_t {} = {};", start, index(x.min)));
  if (extent && *extent == 1) {
    text_.line(fmt::format("const int64_t {} = {};", name, start));
    text_.line(fmt::format("(void){};", name));
    loop_body(x);
  } else {
    const std::string stop = names_.fresh();
    text_.line(fmt::format("const int64_t {} = {} + {};", stop, start, index(x.extent)));
    text_.open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", name, start, stop));
    loop_body(x);
    text_.close();
  }
  text_.close();
}

void KernelPrinter::loop_body(const ir::For& x) {
  codegen::VarFacts facts;
  facts.depth = depth_ + 1;
  const auto first = codegen::range_of(x.min, facts_), count = codegen::range_of(x.extent, facts_);
  if (first && count) {
    facts.range =
        codegen::Interval{first->min, first->max + std::max<std::int64_t>(count->max, 1) - 1};
  }
  if (ir::is_const_int(x.extent, 1)) facts.divisor = codegen::divisor_of(x.min, facts_);
  const auto outer = vars_;
  const auto bases = load_bases_;
  vars_[x.var] = ir::kIndex;
  with_facts(x.var, facts, [&] { statement(x.body); });
  vars_ = outer;
  load_bases_ = bases;
}

void KernelPrinter::opaque(const ir::Opaque& x) {
  if (x.name == ir::kLaunder) return read_again();
  if (x.name == ir::kWorker) return;
  CHECK(x.name == ir::kPrefetch, "unknown intrinsic '" + x.name + "'");
  const auto* at = ir::as<ir::Load>(x.args[0]);
  const std::int64_t* locality = ir::as_int(x.args[1]);
  CHECK(at && locality, "a prefetch takes a load and a constant locality");
  if (plan_.as_values.contains(at->buffer.get())) return;
  const Expr& place = at->index[0];
  const auto strided = codegen::as_strided(place);
  const Expr first = place.type().is_scalar() ? place : strided ? strided->base : Expr(0);
  text_.line(fmt::format("AT_PREFETCH({}, {});",
                         address(*at->buffer, load_base(*at->buffer), first), *locality));
}

}  // namespace attune::c
