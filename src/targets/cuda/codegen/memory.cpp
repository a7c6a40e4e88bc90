// Addresses, accesses of several elements, and shared memory.
#include <fmt/format.h>

#include <numeric>

#include "compiler/codegen/walk.h"
#include "targets/cuda/codegen/launch_printer.h"

namespace attune::cuda {

using c_text::memory_type;

namespace {

constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 2;
// Base addresses are aligned at least so.
constexpr std::int64_t kAlignment = 16;
// More has to be asked for at launch.
constexpr std::int64_t kStaticSharedBytes = 48 << 10;

std::int64_t round_up(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

// The number of an element: a sum of terms, those of outer loops first and its constant last, in 32
// bits where no part of it can be larger.
std::string LaunchPrinter::position(const Expr& at) {
  const codegen::LinearIndex linear = codegen::linearize(at, facts_);
  std::int64_t largest = std::abs(linear.constant);
  bool narrow = largest <= kMost;
  for (const auto& [term, coefficient] : linear.terms) {
    const auto range = codegen::range_of(term, facts_);
    narrow = narrow && is_narrow(term) && range && std::abs(coefficient) <= kMost;
    if (!narrow) break;
    largest += std::max(std::abs(range->min), std::abs(range->max)) * std::abs(coefficient);
    narrow = largest <= kMost;
  }
  std::string text;
  for (const auto& [term, coefficient] : linear.terms) {
    const std::string value = (narrow ? "" : "(int64_t)") + index(term);
    if (!text.empty()) text += " + ";
    text += coefficient == 1 ? value : fmt::format("{} * {}", value, coefficient);
  }
  if (text.empty()) return std::to_string(linear.constant);
  if (linear.constant > 0) text += fmt::format(" + {}", linear.constant);
  if (linear.constant < 0) text += fmt::format(" - {}", -linear.constant);
  return text;
}

std::string LaunchPrinter::address(const ir::BufferNode&, const std::string& base, const Expr& at) {
  return fmt::format("{} + ({})", base, position(at));
}

std::string LaunchPrinter::element(const ir::BufferNode&, const std::string& base, const Expr& at) {
  return fmt::format("{}[{}]", base, position(at));
}

// The most bytes that lanes side by side can be moved at once by; 0: one by one.
int LaunchPrinter::piece_bytes(const ir::BufferNode& buffer, const Expr& first, int count) const {
  const bool in_memory = buffer.scope == ir::Scope::Global || buffer.scope == ir::Scope::Shared;
  if (!in_memory) return 0;
  const std::int64_t element = buffer.type.element_bytes();
  const std::int64_t aligned = codegen::divisor_of(first, facts_) * element;
  const std::int64_t bytes = std::gcd(std::gcd(aligned, element * count), kAlignment);
  return bytes > element ? static_cast<int>(bytes) : 0;
}

std::string LaunchPrinter::load_side_by_side(const ir::BufferNode& buffer, const Expr& first,
                                             const std::string& tag, int count) {
  const int bytes = piece_bytes(buffer, first, count);
  if (bytes == 0) return Printer::load_side_by_side(buffer, first, tag, count);
  const std::string name = names_.fresh();
  text_.line(fmt::format("VLOAD_WIDE({}, {}, {}, {}, {});", tag, count, bytes, name,
                         address(buffer, load_base(buffer), first)));
  return fmt::format("VL({})", name);
}

void LaunchPrinter::store_side_by_side(const ir::BufferNode& buffer, const Expr& first,
                                       const std::string& tag, int count, const std::string& text) {
  const int bytes = piece_bytes(buffer, first, count);
  if (bytes == 0) return Printer::store_side_by_side(buffer, first, tag, count, text);
  text_.line(fmt::format("VSTORE_WIDE({}, {}, {}, {}, {});", tag, count, bytes,
                         address(buffer, names_.of(buffer.name), first), text));
}

// Every shared buffer has a place of its own: others may still read one whose scope has ended.
void LaunchPrinter::share_memory() {
  std::vector<const ir::BufferNode*> shared;
  codegen::walk(
      body_,
      [&](const ir::Stmt& s) {
        const auto* x = ir::as<ir::Allocate>(s);
        if (!x || x->buffer->scope != ir::Scope::Shared) return;
        const ir::BufferNode* buffer = x->buffer.get();
        if (std::find(shared.begin(), shared.end(), buffer) == shared.end()) {
          shared.push_back(buffer);
          printed_.shared_bytes += round_up(ir::element_count(*buffer) * buffer->type.bytes());
        }
      },
      [](const Expr&) {});
  const bool dynamic = printed_.shared_bytes > kStaticSharedBytes;
  if (dynamic) {
    printed_.dynamic_bytes = printed_.shared_bytes;
    text_.line("extern __shared__ __align__(16) unsigned char at_shared[];");
  }
  std::int64_t offset = 0;
  for (const ir::BufferNode* buffer : shared) {
    const std::string type = memory_type(buffer->type), &name = names_.of(buffer->name);
    const std::int64_t elements = ir::element_count(*buffer);
    text_.line(dynamic
                   ? fmt::format("{0}* const {1} = ({0}*)(at_shared + {2});", type, name, offset)
                   : fmt::format("__shared__ __align__(16) {} {}[{}];", type, name,
                                 std::max<std::int64_t>(elements, 1)));
    offset += round_up(elements * buffer->type.bytes());
  }
}

}  // namespace attune::cuda
