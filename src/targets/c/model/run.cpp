// NAME.c: the instructions of the plan, in order.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/match.h"
#include "compiler/codegen/c_text/names.h"
#include "compiler/codegen/c_text/text.h"
#include "compiler/codegen/c_text/types.h"
#include "targets/c/model/parts.h"

namespace attune::c {

using c_text::identifier;
using c_text::memory_type;
using c_text::Text;
namespace {

using runtime::Block;
using runtime::BufferId;
using runtime::Place;

class RunPrinter {
 public:
  explicit RunPrinter(const ModelParts& parts) : parts_(parts), plan_(parts.source.plan) {}

  Result<std::string> print() {
    ATTUNE_RETURN_IF_ERROR(block(plan_.body, "0"));
    return text_.str();
  }

 private:
  const runtime::Buffer& buffer(BufferId id) const {
    return plan_.buffers[static_cast<std::size_t>(id)];
  }

  // A pointer to the first byte, const where it is only read.
  std::string address(BufferId id) const {
    const auto exchanged = exchanged_.find(id);
    return exchanged != exchanged_.end() ? exchanged->second : own_address(id);
  }

  std::string own_address(BufferId id) const {
    const runtime::Buffer& b = buffer(id);
    switch (b.place) {
      case Place::Arena:
        return fmt::format("(arena + {})", b.position);
      case Place::Input:
        return fmt::format("inputs[{}]", b.position);
      case Place::Output:
        return fmt::format("outputs[{}]", b.position);
      case Place::Extents:
      case Place::Constant:
        break;
    }
    for (const WeightsArray& array : parts_.arrays) {
      const bool here = b.position >= array.first && b.position < array.first + array.bytes;
      if (here) {
        return fmt::format("((const unsigned char*){} + {})", array.name, b.position - array.first);
      }
    }
    return fmt::format("((const unsigned char*)weights + {})", b.position);
  }

  Status block(const Block& list, const std::string& iteration) {
    for (const runtime::Instruction& instruction : list) {
      ATTUNE_RETURN_IF_ERROR(std::visit(
          Match{[&](const runtime::KernelCall& x) { return call(x); },
                [&](const runtime::HostCall& x) -> Status {
                  return unsupported(
                      fmt::format(
                          "layer '{}' of '{}' is the host operator {}, which C does not have",
                          x.layer, plan_.model, x.op),
                      "compile it as an artifact, without --format c");
                },
                [&](const runtime::Copy& x) { return copy(x, iteration); },
                [&](const runtime::If& x) { return branch(x, iteration); },
                [&](const runtime::Loop& x) { return loop(x); }},
          instruction.kind));
    }
    return {};
  }

  Status call(const runtime::KernelCall& x) {
    const auto number = static_cast<std::size_t>(x.kernel);
    const ir::Kernel& kernel = parts_.source.kernels[number];
    const runtime::Kernel& planned = plan_.kernels[number];
    if (!x.layer.empty()) text_.line(fmt::format("/* {} */", in_comment(x.layer)));
    std::string arguments;
    for (std::size_t i = 0; i < x.buffers.size(); ++i) {
      const bool written = planned.arguments[i].written;
      arguments += fmt::format(", ({0}{1}*)({0}void*){2}", written ? "" : "const ",
                               memory_type(kernel.params[i]->type), address(x.buffers[i]));
    }
    text_.line(fmt::format("{}_{}(parallel, scratch{});", parts_.name, identifier(kernel.name),
                           arguments));
    return {};
  }

  Status copy(const runtime::Copy& x, const std::string& iteration) {
    if (x.bytes == 0) return {};
    const auto place = [&](BufferId id, std::int64_t offset, std::int64_t step) {
      if (step == 0 || iteration == "0") return fmt::format("{}", offset);
      const std::string name = fmt::format("at_{}", next_++);
      text_.line(fmt::format("const int64_t {} = {} + {} * {};", name, offset, iteration, step));
      text_.line(
          fmt::format("if ({0} < 0 || {0} > {1}) return 2;", name, buffer(id).bytes - x.bytes));
      return name;
    };
    const bool moves = (x.from_step != 0 || x.to_step != 0) && iteration != "0";
    if (moves) text_.open("");
    const std::string from = place(x.from, x.from_offset, x.from_step);
    const std::string to = place(x.to, x.to_offset, x.to_step);
    text_.line(fmt::format("memmove((unsigned char*){} + {}, (const unsigned char*){} + {}, {});",
                           address(x.to), to, address(x.from), from, x.bytes));
    if (moves) text_.close();
    return {};
  }

  std::string flag(BufferId id) const {
    return fmt::format("(*(const unsigned char*){} != 0)", address(id));
  }

  Status branch(const runtime::If& x, const std::string& iteration) {
    text_.open(fmt::format("if ({})", flag(x.condition)));
    ATTUNE_RETURN_IF_ERROR(block(x.then_block, iteration));
    text_.close("} else {");
    Text side(text_.depth() + 1);
    std::swap(text_, side);
    const Status status = block(x.else_block, iteration);
    std::swap(text_, side);
    text_.append(side);
    text_.line("}");
    return status;
  }

  Status loop(const runtime::Loop& x) {
    const std::string i = fmt::format("at_{}", next_++), trips = fmt::format("at_{}", next_++);
    text_.open("");
    text_.line(fmt::format("int64_t {} = {};", trips,
                           x.trip_count >= 0 ? std::to_string(x.trip_count) : "INT64_MAX"));
    if (x.trip_count_buffer != runtime::kNone) {
      text_.line(fmt::format("const int64_t {}_given = *(const int64_t*)(const void*){};", trips,
                             address(x.trip_count_buffer)));
      text_.line(fmt::format("if ({0}_given < {0}) {0} = {0}_given;", trips));
    }
    const auto outside = begin_handovers(x);
    const std::string goes_on = x.condition == runtime::kNone ? "" : " && " + flag(x.condition);
    text_.open(fmt::format("for (int64_t {0} = 0; {0} < {1}{2}; ++{0})", i, trips, goes_on));
    if (x.iteration != runtime::kNone) {
      text_.line(
          fmt::format("memcpy((unsigned char*){}, &{}, sizeof {});", address(x.iteration), i, i));
    }
    ATTUNE_RETURN_IF_ERROR(block(x.body, i));
    for (const auto& [now, next] : x.handovers) {
      text_.open("");
      text_.line(fmt::format("unsigned char* const other = {};", address(now)));
      text_.line(fmt::format("{} = {};", address(now), address(next)));
      text_.line(fmt::format("{} = other;", address(next)));
      text_.close();
    }
    text_.close();
    end_handovers(x, outside);
    text_.close();
    return {};
  }

  using Names = std::map<BufferId, std::string>;
  // Variables in the place of the buffers that exchange their memory; those from outside come back.
  Names begin_handovers(const runtime::Loop& x) {
    Names outside = exchanged_;
    for (const auto& [now, next] : x.handovers) {
      for (const BufferId id : {now, next}) {
        const std::string name = fmt::format("at_{}", next_++);
        text_.line(fmt::format("unsigned char* {} = {};", name, address(id)));
        exchanged_[id] = name;
      }
    }
    return outside;
  }
  void end_handovers(const runtime::Loop& x, const Names& outside) {
    const Names inside = std::exchange(exchanged_, outside);
    for (const runtime::Handover& handover : x.handovers) {
      text_.line(fmt::format("if ({0} != {1}) memcpy({1}, {0}, {2});", inside.at(handover.now),
                             address(handover.now), buffer(handover.now).bytes));
    }
  }

  const ModelParts& parts_;
  const runtime::Plan& plan_;
  Text text_{1};
  Names exchanged_;  // variables that point to buffers handed over
  int next_ = 0;
};

}  // namespace

Result<std::string> run_text(const ModelParts& parts) {
  ATTUNE_ASSIGN(const std::string body, RunPrinter(parts).print());
  const runtime::Plan& plan = parts.source.plan;
  const bool from_file = parts.form == WeightsForm::File;
  std::string text = fmt::format(
      "#include \"{0}.h\"\n\n#include <string.h>\n\n#include \"{0}_kernels.h\"\n\n", parts.name);
  for (const WeightsArray& array : parts.arrays) {
    text += fmt::format("extern const uint64_t {}[];\n", array.name);
  }
  std::string checks = "workspace == 0";
  if (from_file) checks = "weights == 0 || " + checks;
  if (!plan.inputs.empty()) checks += " || inputs == 0";
  if (!plan.outputs.empty()) checks += " || outputs == 0";
  text += fmt::format(
      "\nint {0}_run({1}const void* const* inputs, void* const* outputs, void* workspace,\n"
      "            const {0}_parallel* parallel) {{\n"
      "  unsigned char* const arena = workspace;\n"
      "  unsigned char* const scratch = arena + {2};\n"
      "  if ({3}) return 1;\n",
      parts.name, from_file ? "const void* weights, " : "", plan.arena_bytes, checks);
  const auto check_each = [&](std::string_view list, std::size_t count) {
    if (count == 0) return;
    text += fmt::format("  for (int i = 0; i < {}; ++i) {{\n    if ({}[i] == 0) return 1;\n  }}\n",
                        count, list);
  };
  check_each("inputs", plan.inputs.size());
  check_each("outputs", plan.outputs.size());
  return text + "  (void)scratch;\n" + body + "  return 0;\n}\n";
}

}  // namespace attune::c
