// For tests: programs under schedules of launches, run by the interpreter, which finds races and
// missing barriers, and compared with what the unscheduled program computes.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/interpret/launches.h"
#include "compiler/ir/text/print.h"
#include "compiler/ir/verify/verify.h"
#include "compiler/lower/lower.h"
#include "tuner/space/template_space.h"
#include "tuner/templates/launches/launches.h"

namespace attune::templates {

// A small device, so that small programs fill it.
inline target::Target launch_target() {
  target::Target target;
  target.threads = 1;
  target.vector_bytes = 16;
  target.vector_registers = 1 << 16;
  target.launch = {.multiprocessors = 4, .register_bytes = 1020};
  target.parallel_loops = target.fuses_chains = target.blocks_are_of_sums = false;
  return target;
}

class Launched {
 public:
  explicit Launched(const ir::Program& program) : program_(program) {
    Rng rng(7);
    for (const ir::Input& input : program.inputs) {
      ir::Array array(input.buffer->type, input.buffer->shape);
      for (std::int64_t i = 0; i < array.count(); ++i) {
        if (input.buffer->type.is_float()) {
          array.set_real(i, 2 * rng.uniform() - 1);
        } else {
          array.set_int(i, rng.between(-8, 7));
        }
      }
      arrays_.insert_or_assign(input.buffer->name, array);
      inputs_.push_back(std::move(array));
    }
    outputs_ = ir::interpret(program, inputs_).value();
  }

  // "" when the schedule computes the same and nothing is found.
  std::string check(const schedule::Trace& trace) const {
    auto state = schedule::replay(program_, trace);
    if (!state.ok()) return state.error().message;
    lower::Options options;
    options.pipeline = lower::launch_pipeline();
    const auto lowered = lower::lower(*state, options);
    if (!lowered.ok()) return lowered.error().message;
    auto arrays = arrays_;
    if (lowered->prepare) {
      const std::string wrong = run(*lowered->prepare, lowered->prepare_inputs.size(), arrays);
      if (!wrong.empty()) return "prepare: " + wrong;
    }
    const std::size_t given = lowered->main_inputs.size() + lowered->prepared.size();
    const std::string wrong = run(lowered->main, given, arrays);
    return wrong.empty() ? compare(arrays) : wrong;
  }

 private:
  using Arrays = std::map<std::string, ir::Array>;

  static std::string run(const ir::Kernel& kernel, std::size_t given, Arrays& arrays) {
    std::vector<ir::Array> arguments;
    for (const ir::Buffer& buffer : kernel.params) {
      const auto found = arrays.find(buffer->name);
      arguments.push_back(found != arrays.end() ? found->second
                                                : ir::Array(buffer->type, buffer->shape));
      arguments.back().shape = buffer->shape;
    }
    ir::LaunchOptions options;
    options.limits.shared_bytes = 128 << 10;
    const auto findings = ir::run_launches(kernel, arguments, static_cast<int>(given), options);
    if (!findings.ok()) return findings.error().message;
    if (!findings->empty()) return findings->front().text + "\n" + ir::to_string(kernel);
    for (std::size_t i = given; i < arguments.size(); ++i) {
      arrays.insert_or_assign(kernel.params[i]->name, std::move(arguments[i]));
    }
    return "";
  }

  std::string compare(const Arrays& arrays) const {
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      const ir::Array& expected = outputs_[o];
      const ir::Array& actual = arrays.at(program_.outputs[o]->name);
      // Where sums are rounded to halves, another order of their terms may round them elsewhere.
      const ir::DType type = expected.type;
      const double tolerance = type == ir::kF16 ? 2e-3 : type == ir::kBF16 ? 1.6e-2 : 1e-4;
      double largest = 1e-6;
      for (std::int64_t i = 0; i < expected.count(); ++i) {
        largest = std::max(largest, std::abs(expected.real(i)));
      }
      for (std::int64_t i = 0; i < expected.count(); ++i) {
        if (std::abs(expected.real(i) - actual.real(i)) <= tolerance * largest) continue;
        return fmt::format("{}[{}] is {}, must be {}", program_.outputs[o]->name, i, actual.real(i),
                           expected.real(i));
      }
    }
    return "";
  }

  const ir::Program program_;
  Arrays arrays_;
  std::vector<ir::Array> inputs_, outputs_;
};

// What a schedule made of every stage, as text.
inline std::string stages_text(const schedule::State& state) {
  std::string text;
  for (const auto& stage : state.stages) {
    text += fmt::format(
        "{} at {} {}, scope {}, {} buffers, gap {}, layout {}, {}:", stage->stage.name,
        stage->at_stage, stage->at_loop, stage->scope ? static_cast<int>(*stage->scope) : -1,
        stage->buffers, stage->gap, stage->layout.size(), stage->intrinsic);
    for (const int loop : stage->loops) {
      const schedule::Iter& iter = stage->iters[static_cast<std::size_t>(loop)];
      text += fmt::format(" {} {} {}", iter.name, static_cast<int>(iter.kind), iter.axis);
    }
    text += "\n";
    for (const ir::Expr& value : stage->stage.values) text += ir::to_string(value) + "\n";
  }
  return text;
}

// The default and random points of a program's space, all legal ones of which must be right.
inline void expect_right(const ir::Program& program, std::string_view name, int wanted,
                         std::uint64_t seed, const target::Target& target = launch_target()) {
  const space::TemplateSpace space({{"direct", program}}, launches(), target);
  const Launched launched(program);
  Rng rng(seed);
  int compared = 0;
  for (int tries = 0; tries < 40 * wanted && compared < wanted; ++tries) {
    const space::Point point = tries == 0 ? space.defaults().front() : space.sample(rng);
    const auto scheduled = space.schedule_of(point);
    if (tries == 0) {
      EXPECT_TRUE(scheduled.ok()) << "default: " << scheduled.error().message;
    }
    if (!scheduled.ok()) continue;
    const schedule::Trace trace = space.trace_of(point);
    // What a template performed as it wrote is what its steps do.
    ASSERT_EQ(stages_text(scheduled->state), stages_text(schedule::replay(program, trace).value()))
        << name << " " << space.to_string(point);
    const std::string wrong = launched.check(trace);
    ++compared;
    ASSERT_EQ(wrong, "") << name << " " << space.to_string(point) << "\n"
                         << schedule::to_string(trace);
  }
  EXPECT_GE(compared, std::min(wanted, 3)) << name;
}

}  // namespace attune::templates
