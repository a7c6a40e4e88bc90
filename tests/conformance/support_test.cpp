// Which operators work in which types: every family with every element type, under its default
// schedule, compiled and run, agrees with the interpreter or is refused by the operator itself; and
// which samples every operator of graphs has. The result is docs/support.md; the test fails when
// that page is stale, and `./test golden --update` writes it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "compiler/frontend/op_spec/op_spec.h"
#include "compiler/ops/element_types.h"
#include "compiler/ops/forms/sample_spec.h"
#include "runtime/host/host.h"
#include "targets/kinds.h"
#include "tests/support/golden.h"
#include "tests/support/operator_samples.h"
#include "tests/support/run_scheduled.h"
#include "tuner/tunings/tunings.h"

namespace attune::test {
namespace {

// One small case of each family; reductions and chains once per kind that matters for types.
std::vector<std::string> cases_of(const ops::Family& family) {
  static const std::map<std::string, std::vector<std::string>> table{
      {"matmul", {"matmul:m=5,n=19,k=6"}},
      {"dense", {"dense:m=5,n=19,k=6"}},
      {"batch_matmul", {"batch_matmul:b=2,m=3,n=9,k=5"}},
      {"attention", {"attention:heads=2,m=9,n=7,d=5"}},
      {"conv2d",
       {"conv2d:h=5,w=6,ic=5,oc=9,kh=3,kw=3,pad=1", "conv2d:h=5,w=6,ic=3,oc=9,kh=3,kw=3,stride=2"}},
      {"depthwise", {"depthwise:h=5,w=6,c=9,k=3"}},
      {"conv2d_transpose",
       {"conv2d_transpose:h=4,w=5,ic=5,oc=3,kh=4,kw=4,stride=2,pad=1",
        "conv2d_transpose:h=3,w=4,ic=5,oc=9,kh=3,kw=3,stride=2,pad=1"}},
      {"maxpool", {"maxpool:h=5,w=6,c=9,k=2,stride=1,pad=1"}},
      {"avgpool", {"avgpool:h=5,w=6,c=9,k=2,stride=1,pad=1"}},
      {"softmax", {"softmax:m=3,n=37"}},
      {"layernorm", {"layernorm:m=3,n=37"}},
      {"reduce", {"reduce:m=3,n=37,op=sum", "reduce:m=3,n=37,op=argmax"}},
      {"elementwise", {"elementwise:m=3,n=37,op=bias+relu"}},
      {"transpose", {"transpose:d0=3,d1=5,d2=17,perm=201"}},
  };
  const auto found = table.find(family.name);
  return found == table.end() ? std::vector{ops::sample_spec(family)} : found->second;
}

target::Target own_target() {
  target::Target target;
  target.threads = 2;
  return targets::resolve(target).value();
}

// "yes" when all cases of the family agree, "–" when the operator refuses the type.
std::string status_of(const std::vector<std::string>& cases, ir::DType type,
                      const target::Target& target) {
  bool supported = false;
  for (const std::string& spec : cases) {
    const auto task =
        op_spec::parse_op_spec(fmt::format("{},dtype={}", spec, to_string(type)), target);
    if (!task.ok()) {
      EXPECT_FALSE(supported) << spec << " refuses " << to_string(type) << ", its siblings do not";
      continue;
    }
    supported = true;
    const auto reference = make_reference(task->program, 1);
    const schedule::Trace trace = tunings::default_trace(task->program, target);
    const Status status = reference.ok() ? check_trace(task->program, trace, target, *reference,
                                                       task->tolerance, Way::Compiled)
                                         : Status(reference.error());
    EXPECT_TRUE(status.ok()) << task->spec << ": " << status.error().message << "\n"
                             << to_string(trace);
  }
  return supported ? "yes" : "–";
}

std::string algorithms_of(const std::string& spec, const target::Target& target) {
  std::string names = "direct";
  const auto task = op_spec::parse_op_spec(spec, target);
  EXPECT_TRUE(task.ok()) << spec;
  if (!task.ok()) return names;
  for (const ops::AlgorithmDef& algorithm : task->alternatives) names += ", " + algorithm.name;
  return names;
}

// The names of types, a whole set by its name.
std::string types_text(std::set<std::string> types) {
  constexpr std::array kSets{
      std::pair{"floats", "f32 f64 f16 bf16"},
      std::pair{"integers", "i8 i16 i32 i64 u8 u16 u32 u64"},
  };
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
  for (const auto& [name, members] : kSets) {
    std::istringstream words(members);
    const std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
    const auto there = [&](const std::string& type) { return types.count(type) != 0; };
    if (!std::all_of(all.begin(), all.end(), there)) continue;
    add(name);
    for (const std::string& type : all) types.erase(type);
  }
  for (const std::string& type : types) add(type);
  return text;
}

// The operators of graphs, by the samples that `./test conformance` checks.
std::string operators_part() {
  std::string text =
      "\n## Operators of graphs\n\n"
      "Every operator that models are made of, and the samples of tests/conformance/operators.txt "
      "that\n`./test conformance` compiles and runs on every target, each with random schedules "
      "too. Runtime: there\nis a version for tensors whose size depends on data.\n\n"
      "| operator | samples | types | runtime |\n|---|---|---|---|\n";
  for (const ops::OpDef& def : ops::operators()) {
    const std::vector<Sample> samples = samples_of(def.name);
    EXPECT_FALSE(samples.empty()) << def.name << " has no line in tests/conformance/operators.txt";
    std::set<std::string> types;
    for (const Sample& sample : samples) types.insert(to_string(sample.type));
    text += fmt::format("| {} | {} | {} | {} |\n", def.name, samples.size(), types_text(types),
                        runtime::has_host(ops::host_name(def)) ? "yes" : "–");
  }
  return text;
}

// The part that tests/conformance/onnx/run writes, which this test leaves as it is.
std::string onnx_part() {
  std::ifstream file(golden_directory() / "../../docs/support.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const auto mark = page.find("\n<!-- onnx -->");
  return mark == std::string::npos ? "" : page.substr(mark);
}

TEST(SupportTable, IsUpToDate) {
  const target::Target target = own_target();
  std::string text =
      "# What is supported\n\n"
      "Written by the conformance tests, which compile and run each of these on the target `cpu` "
      "and\ncompare it with the interpreter; `./test golden --update` writes this page anew. "
      "“–”: the operator\nis not defined for that type.\n\n| operator | algorithms |";
  std::string rule = "|---|---|";
  for (const ir::DType type : ops::kAllTypes) {
    text += " " + to_string(type) + " |";
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const ops::Family& family : ops::families()) {
    const std::vector<std::string> cases = cases_of(family);
    text += fmt::format("| {} | {} |", family.name, algorithms_of(cases[0], target));
    for (const ir::DType type : ops::kAllTypes) {
      text += " " + status_of(cases, type, target) + " |";
    }
    text += "\n";
  }
  text += operators_part();
  text += onnx_part();
  EXPECT_TRUE(matches_golden("../../docs/support.md", text));
}

}  // namespace
}  // namespace attune::test
