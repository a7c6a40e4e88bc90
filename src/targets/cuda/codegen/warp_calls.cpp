// Instructions that the lanes of a warp run together: loads of what each lane holds of the
// operands, as wide as it lies side by side, and then the instructions with its registers
// (prelude/matrices.h).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/ir/text/parse.h"
#include "targets/cuda/codegen/launch_printer.h"

namespace attune::cuda {

using ir::Expr;

namespace {

constexpr std::int64_t kRegisterBytes = 4, kMostRegisters = 4;  // of one load

// The operands of a call, in order.
struct Operand {
  const ir::Load* tile = nullptr;
  std::vector<std::int64_t> strides;
  std::int64_t step = 0;  // between lanes, of inputs
};

std::vector<Operand> operands_of(const ir::Opaque& call, const ir::TensorIntrinsic& intrinsic) {
  std::vector<Operand> operands;
  std::size_t next = 0;
  for (const ir::Fragment& fragment : intrinsic.warp->fragments) {
    Operand operand{ir::as<ir::Load>(call.args[next++]), {}};
    CHECK(operand.tile && operand.tile->index.size() == 1, "operands are loads of one index");
    for (std::size_t d = 0; d < fragment.index.size(); ++d) {
      operand.strides.push_back(*ir::as_int(call.args[next++]));
    }
    if (!operands.empty()) operand.step = *ir::as_int(call.args[next++]);
    operands.push_back(std::move(operand));
  }
  return operands;
}

// Where the elements of a lane's fragment lie, as indices of the operand's buffer.
std::vector<Expr> places_of(const ir::Fragment& fragment, const Operand& operand,
                            const std::string& lane) {
  const ir::Ranges ranges{{lane, ir::Interval::extent(32)}};
  std::vector<Expr> places;
  for (int e = 0; e < fragment.elements; ++e) {
    const auto part = [&](std::string_view text) {
      const Expr value = text.empty() ? Expr(0) : ir::parse_expr(text).value();
      return ir::substitute(value, {{"lane", ir::var(lane)}, {"e", Expr(e)}});
    };
    Expr offset = part(fragment.step) * Expr(operand.step);
    for (std::size_t d = 0; d < fragment.index.size(); ++d) {
      offset = offset + part(fragment.index[d]) * Expr(operand.strides[d]);
    }
    places.push_back(ir::simplify(operand.tile->index[0] + ir::simplify(offset, ranges), ranges));
  }
  return places;
}

// The distance from one place to another, if it is the same in all lanes.
std::optional<std::int64_t> distance(const Expr& from, const Expr& to) {
  const Expr apart = ir::simplify(to - from);
  const std::int64_t* number = ir::as_int(apart);
  return number ? std::optional(*number) : std::nullopt;
}

// "m16n8k8_tf32" of "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32".
std::string name_of(std::string_view instruction) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= instruction.size();) {
    const std::size_t end = std::min(instruction.find('.', at), instruction.size());
    parts.emplace_back(instruction.substr(at, end - at));
    at = end + 1;
  }
  CHECK(parts.size() > 7, "the name of a matrix instruction has its shape and types");
  return parts[3] + "_" + parts[7];
}

}  // namespace

// The register that holds elements which do not lie side by side.
std::string LaunchPrinter::packed(const ir::Load& tile, const std::vector<Expr>& places,
                                  std::size_t first) {
  const ir::BufferNode& buffer = *tile.buffer;
  const std::string name = names_.fresh();
  const auto one = [&](std::size_t e) { return element(buffer, load_base(buffer), places[e]); };
  if (buffer.type.element_bytes() == kRegisterBytes) {
    text_.line(fmt::format("const uint32_t {} = at_bits_of_u32_f32({});", name, one(first)));
  } else {
    text_.line(fmt::format("const uint32_t {} = (uint32_t){} | (uint32_t){} << 16;", name,
                           one(first), one(first + 1)));
  }
  return name;
}

// The registers of a fragment, each as text.
std::vector<std::string> LaunchPrinter::fragment(const ir::Load& tile,
                                                 const std::vector<Expr>& places) {
  const ir::BufferNode& buffer = *tile.buffer;
  const auto each = static_cast<std::size_t>(kRegisterBytes / buffer.type.element_bytes());
  std::vector<std::string> registers(places.size() / each);
  // Registers by where their first element lies, from the first of all.
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t r = 0; r < registers.size(); ++r) {
    const auto from = distance(places[0], places[r * each]);
    const bool whole = each == 1 || distance(places[r * each], places[r * each + 1]) == 1;
    if (from && whole) {
      order.emplace_back(*from, r);
    } else {
      registers[r] = packed(tile, places, r * each);
    }
  }
  std::sort(order.begin(), order.end());
  const auto step = static_cast<std::int64_t>(each);
  for (std::size_t at = 0; at < order.size();) {
    const Expr& first = places[order[at].second * each];
    const std::int64_t aligned =
        codegen::divisor_of(first, facts_) * static_cast<std::int64_t>(buffer.type.element_bytes());
    std::size_t count = 1;
    while (at + count < order.size() &&
           order[at + count].first == order[at].first + static_cast<std::int64_t>(count) * step) {
      ++count;
    }
    std::int64_t wide = std::gcd(aligned / kRegisterBytes, kMostRegisters);
    while (wide > static_cast<std::int64_t>(count)) wide /= 2;
    if (wide == 0) {
      registers[order[at].second] = packed(tile, places, order[at].second * each);
      ++at;
      continue;
    }
    const std::string name = names_.fresh();
    const std::string type = wide == 1 ? "uint32_t" : fmt::format("uint{}", wide);
    text_.line(fmt::format("const {0} {1} = *(const {0}*)({2});", type, name,
                           address(buffer, load_base(buffer), first)));
    for (std::int64_t i = 0; i < wide; ++i, ++at) {
      registers[order[at].second] =
          wide == 1 ? name : fmt::format("{}.{}", name, "xyzw"[static_cast<std::size_t>(i)]);
    }
  }
  return registers;
}

void LaunchPrinter::warp_call(const ir::Opaque& x, const ir::TensorIntrinsic& intrinsic) {
  const ir::WarpForm& warp = *intrinsic.warp;
  const std::vector<Operand> operands = operands_of(x, intrinsic);
  const std::int64_t rounded = intrinsic.rounding.empty() ? 0 : *ir::as_int(x.args.back());
  const std::string name = name_of(warp.instruction);
  text_.open("");
  const Operand& results = operands[0];
  std::string sums;
  for (const Expr& place : places_of(warp.fragments[0], results, lane_)) {
    sums +=
        fmt::format("{}{}", sums.empty() ? "" : ", ",
                    element(*results.tile->buffer, names_.of(results.tile->buffer->name), place));
  }
  std::vector<std::vector<std::string>> inputs;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const auto places = places_of(warp.fragments[i], operands[i], lane_);
    inputs.push_back(fragment(*operands[i].tile, places));
    const bool rounds = !intrinsic.rounding.empty() && (rounded >> (i - 1) & 1) == 0;
    for (std::string& text : inputs.back()) {
      if (rounds) text = fmt::format("at_round_{}({})", name.substr(name.find('_') + 1), text);
    }
  }
  for (int n = 0; n < warp.instructions; ++n) {
    std::string arguments = sums;
    for (const std::vector<std::string>& registers : inputs) {
      const std::size_t count = registers.size() / static_cast<std::size_t>(warp.instructions);
      for (std::size_t r = 0; r < count; ++r) {
        arguments += ", " + registers[static_cast<std::size_t>(n) * count + r];
      }
    }
    text_.line(fmt::format("at_mma_{}({});", name, arguments));
  }
  text_.close();
}

}  // namespace attune::cuda
