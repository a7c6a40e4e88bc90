#include "targets/c/codegen/printer.h"

#include <fmt/format.h>

#include "base/check.h"
#include "compiler/ir/nodes/intrinsics.h"

namespace attune::c {

using c_text::memory_type;

KernelPrinter::KernelPrinter(const ir::Kernel& kernel, const codegen::StoragePlan& plan,
                             const PrintOptions& options)
    : Printer(kernel.body, plan),
      kernel_(kernel),
      options_(options),
      function_(options.prefix + "_" + c_text::identifier(kernel.name)) {}

PrintedKernel KernelPrinter::print() {
  std::string parameters =
      fmt::format("const {}_parallel* parallel, unsigned char* workspace", options_.prefix);
  text_.line("(void)parallel;");
  text_.line("(void)workspace;");
  for (std::size_t i = 0; i < kernel_.params.size(); ++i) {
    const ir::Buffer& buffer = kernel_.params[i];
    bound_.insert(buffer.get());
    if (options_.shared.count(i) > 0) shared_.insert(buffer.get());
    const std::string& name = names_.of(buffer->name);
    parameters += fmt::format(", {} {}", parameter_type(*buffer), name);
    text_.line(fmt::format("(void){};", name));
  }
  statement(kernel_.body);
  PrintedKernel result;
  result.declaration = fmt::format("void {}({})", function_, parameters);
  result.definition = functions_ + fmt::format("{} {{\n{}}}\n", result.declaration, text_.str());
  result.vectors = std::move(vectors_);
  result.workspace_bytes = plan_.workspace_bytes;
  return result;
}

void KernelPrinter::loop(const ir::For& x) {
  if (x.kind == ir::LoopKind::Parallel && !in_task_) return parallel_loop(x);
  serial_loop(x, "");
}

void KernelPrinter::declare(const ir::BufferNode& buffer) {
  const std::string type = memory_type(buffer.type);
  const auto range = plan_.workspace.find(&buffer);
  if (range != plan_.workspace.end()) {
    const codegen::WorkspaceRange& r = range->second;
    const std::string slice =
        r.per_worker && sliced_ ? fmt::format(" + worker * {}", r.slice_bytes) : "";
    text_.line(fmt::format("{0}* restrict {1} = ({0}*)(void*)(workspace + {2}{3});", type,
                           names_.of(buffer.name), r.offset, slice));
  } else {
    text_.line(fmt::format("_Alignas(64) {} {}[{}];", type, names_.of(buffer.name),
                           std::max<std::int64_t>(ir::element_count(buffer), 1)));
  }
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

// New pointers to what is only read: the compiler cannot see that they point where the old ones do.
void KernelPrinter::read_again() {
  for (const ir::Buffer& buffer : kernel_.params) {
    if (stored_.contains(buffer.get()) || !bound_.contains(buffer.get())) continue;
    const std::string name = names_.fresh();
    text_.line(
        fmt::format("const {}* {} = {};", memory_type(buffer->type), name, load_base(*buffer)));
    text_.line(fmt::format("AT_READ_AGAIN({});", name));
    load_bases_[buffer.get()] = name;
  }
}

}  // namespace attune::c
