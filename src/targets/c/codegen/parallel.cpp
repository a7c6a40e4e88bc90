// Parallel loops. The body becomes a function of its own, for a range of iterations; what it uses
// from outside travels in a struct on the caller's stack, and the caller's callback, if there is
// one, has ranges run by its threads.
#include <fmt/format.h>

#include "compiler/codegen/buffer_order.h"
#include "compiler/codegen/walk.h"
#include "targets/c/codegen/printer.h"

namespace attune::c {

using c_text::memory_type;
using c_text::Text;
using c_text::value_type;

std::string KernelPrinter::pointer_type(const ir::BufferNode& buffer) const {
  return fmt::format("{}{}*", stored_.contains(&buffer) ? "" : "const ", memory_type(buffer.type));
}

std::string KernelPrinter::parameter_type(const ir::BufferNode& buffer) const {
  return pointer_type(buffer) + (shared_.contains(&buffer) ? "" : " restrict");
}

void KernelPrinter::parallel_loop(const ir::For& x) {
  std::set<std::string> mentioned;
  codegen::BufferSet touched;
  codegen::walk(
      x.body,
      [&](const ir::Stmt& s) {
        if (const auto* st = ir::as<ir::Store>(s)) touched.insert(st->buffer.get());
      },
      [&](const Expr& e) {
        if (const auto* v = ir::as<ir::Var>(e)) mentioned.insert(v->name);
        if (const auto* l = ir::as<ir::Load>(e)) touched.insert(l->buffer.get());
      });
  std::vector<std::string> vars;
  for (const auto& [name, type] : vars_) {
    if (mentioned.contains(name) && type.is_scalar()) vars.push_back(name);
  }
  std::vector<const ir::BufferNode*> buffers;
  for (const ir::Buffer& buffer : plan_.in_memory) {
    const bool used = bound_.contains(buffer.get()) && touched.contains(buffer.get());
    if (used) buffers.push_back(buffer.get());
  }
  const bool sliced = codegen::uses_worker_slices(x, plan_);
  const std::string name = std::to_string(task_count_++);
  print_body(x, name, vars, buffers, sliced);
  print_task(name, vars, buffers, sliced);

  text_.open("");
  text_.line(fmt::format("const int64_t at_first = {};", index(x.min)));
  text_.line(fmt::format("const int64_t at_extent = {};", index(x.extent)));
  std::string fields = "at_first, at_extent, workspace";
  for (const std::string& var : vars) fields += ", " + names_.of(var);
  for (const auto* buffer : buffers) fields += ", " + names_.of(buffer->name);
  text_.line(fmt::format("{}_closure{} at_closure = {{{}}};", function_, name, fields));
  // With slices, one iteration is one slice's share of the loop: never more of them at once than
  // there are slices, however many threads the caller has.
  text_.line(
      fmt::format("const int64_t at_count = {};",
                  sliced ? fmt::format("at_extent > 0 ? {} : 0", options_.threads) : "at_extent"));
  const std::string task = fmt::format("{}_task{}", function_, name);
  text_.open("if (at_count > 0 && parallel != 0 && parallel->run != 0)");
  text_.line(fmt::format("parallel->run(parallel->pool, at_count, {}, &at_closure);", task));
  text_.close();
  text_.open("else if (at_count > 0)");
  text_.line(fmt::format("{}(&at_closure, 0, at_count, 0);", task));
  text_.close();
  text_.close();
}

void KernelPrinter::print_body(const ir::For& x, const std::string& name,
                               const std::vector<std::string>& vars,
                               const std::vector<const ir::BufferNode*>& buffers, bool sliced) {
  std::string parameters = "unsigned char* workspace, int64_t begin, int64_t end";
  if (sliced) parameters += ", int64_t worker";
  for (const std::string& var : vars) {
    parameters += fmt::format(", {} {}", value_type(vars_.at(var)), names_.of(var));
  }
  for (const auto* buffer : buffers) {
    parameters += fmt::format(", {} {}", parameter_type(*buffer), names_.of(buffer->name));
  }
  Text outer(1);
  std::swap(text_, outer);
  const auto outer_bound = std::exchange(bound_, {buffers.begin(), buffers.end()});
  const auto outer_bases = std::exchange(load_bases_, {});
  in_task_ = true;
  sliced_ = sliced;
  text_.line("(void)workspace;");
  if (sliced) text_.line("(void)worker;");
  text_.open(fmt::format("for (int64_t {0} = begin; {0} < end; ++{0})", names_.of(x.var)));
  loop_body(x);
  text_.close();
  functions_ += fmt::format("static inline void {}_body{}({}) {{\n{}}}\n\n", function_, name,
                            parameters, text_.str());
  in_task_ = false;
  sliced_ = false;
  bound_ = outer_bound;
  load_bases_ = outer_bases;
  std::swap(text_, outer);
}

void KernelPrinter::print_task(const std::string& name, const std::vector<std::string>& vars,
                               const std::vector<const ir::BufferNode*>& buffers, bool sliced) {
  Text fields(1);
  fields.line("int64_t first, extent;");
  fields.line("unsigned char* workspace;");
  std::string captured;
  for (const std::string& var : vars) {
    fields.line(fmt::format("{} {};", value_type(vars_.at(var)), names_.of(var)));
    captured += ", c->" + names_.of(var);
  }
  for (const auto* buffer : buffers) {
    fields.line(fmt::format("{} {};", pointer_type(*buffer), names_.of(buffer->name)));
    captured += ", c->" + names_.of(buffer->name);
  }
  functions_ += fmt::format("typedef struct {0}_closure{1} {{\n{2}}} {0}_closure{1};\n\n",
                            function_, name, fields.str());
  Text body(1);
  body.line(fmt::format("const {}_closure{}* const c = closure;", function_, name));
  body.line("(void)worker;");
  if (sliced) {
    body.open("for (int64_t slice = begin; slice < end; ++slice)");
    body.line(
        fmt::format("const int64_t from = c->first + slice * c->extent / {};", options_.threads));
    body.line(fmt::format("const int64_t to = c->first + (slice + 1) * c->extent / {};",
                          options_.threads));
    body.line(
        fmt::format("{}_body{}(c->workspace, from, to, slice{});", function_, name, captured));
    body.close();
  } else {
    body.line(fmt::format("{}_body{}(c->workspace, c->first + begin, c->first + end{});", function_,
                          name, captured));
  }
  functions_ += fmt::format(
      "static void {}_task{}(void* closure, int64_t begin, int64_t end, int32_t worker) "
      "{{\n{}}}\n\n",
      function_, name, body.str());
}

}  // namespace attune::c
