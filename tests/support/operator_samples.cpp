#include "tests/support/operator_samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "base/check.h"
#include "base/hash.h"
#include "base/rng.h"
#include "compiler/graph/builder.h"
#include "compiler/model/ahead.h"
#include "tests/support/control_samples.h"
#include "tests/support/golden.h"
#include "tests/support/sample_lines.h"

namespace attune::test {
namespace {

using ops::ConstantPtr;

// A random number of the operand's range: floats are multiples of 1/16, which all types hold.
double random_number(const SampleOperand& operand, ir::DType type, Rng& rng) {
  if (type.is_bool()) return static_cast<double>(rng.between(0, 1));
  const bool is_unsigned = type.kind == ir::TypeKind::UInt;
  double low = is_unsigned ? 0 : -8, high = is_unsigned ? 15 : 7;
  if (type.is_float()) low = -2, high = 2;
  if (operand.has_range) low = operand.low, high = operand.high;
  if (is_unsigned) low = std::max(low, 0.0);
  const double step = type.is_float() ? 16 : 1;
  return static_cast<double>(rng.between(std::llround(low * step), std::llround(high * step))) /
         step;
}

ConstantPtr values_of(const SampleOperand& operand, ir::DType type, Rng& rng) {
  ir::Array array(type, operand.shape);
  for (std::int64_t i = 0; i < array.count(); ++i) {
    const double number = operand.values.empty() ? random_number(operand, type, rng)
                                                 : operand.values.at(static_cast<std::size_t>(i));
    type.is_float() ? array.set_real(i, number)
                    : array.set_int(i, static_cast<std::int64_t>(number));
  }
  return ops::make_constant(std::move(array));
}

Sample make_sample(const SampleLine& line, ir::DType type, std::string_view attributes,
                   int number) {
  Sample sample{.text = {}, .op = line.op, .attributes = line.attributes, .line = number};
  std::vector<std::string> operands;
  Rng rng(hash_bytes(fmt::format("{} {} {}", line.op, number, to_string(type))));
  for (const SampleOperand& operand : line.operands) {
    sample.known.push_back(operand.known);
    if (!operand.present) {
      sample.operands.push_back(nullptr);
      operands.emplace_back("_");
      continue;
    }
    const ir::DType own = operand.type == "T" ? type : ir::parse_dtype(operand.type).value();
    sample.operands.push_back(values_of(operand, own, rng));
    operands.push_back(to_string(sample.operands.back()->type) + (operand.known ? "!" : ""));
  }
  const bool has_type = std::any_of(line.operands.begin(), line.operands.end(),
                                    [](const SampleOperand& one) { return one.type == "T"; });
  const auto first = std::find_if(sample.operands.begin(), sample.operands.end(),
                                  [](const ConstantPtr& one) { return one != nullptr; });
  if (has_type || first != sample.operands.end()) {
    sample.type = has_type ? type : (*first)->type.dtype;
  }
  sample.text = fmt::format("{}({}){}", line.op, fmt::join(operands, ", "), attributes);
  return sample;
}

std::string_view attributes_in(const std::string& line) {
  const std::size_t open = line.find(" {"), close = line.find('}');
  if (open == std::string::npos || close == std::string::npos) return "";
  return std::string_view(line).substr(open, close + 1 - open);
}

std::map<std::string, std::vector<Sample>, std::less<>> read_samples() {
  std::map<std::string, std::vector<Sample>, std::less<>> all;
  std::map<std::string, int> lines;
  const auto path = golden_directory() / "../conformance/operators.txt";
  std::ifstream file(path);
  CHECK(file.good(), fmt::format("{} cannot be read", path.string()));
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text[0] == '#') continue;
    const Result<SampleLine> line = parse_sample_line(text);
    CHECK(line.ok(), fmt::format("{}: {}", text, line.ok() ? "" : line.error().message));
    const int number = lines[line->op]++;
    for (const ir::DType type : line->types) {
      all[line->op].push_back(make_sample(*line, type, attributes_in(text), number));
    }
  }
  for (Sample& sample : control_samples()) all[sample.op].push_back(std::move(sample));
  return all;
}

std::string different_elements(const ops::Constant& expected, const ops::Constant& found,
                               double tolerance) {
  double largest = 0;
  for (std::int64_t i = 0; i < expected.type.elements(); ++i) {
    if (std::isfinite(expected.real(i))) largest = std::max(largest, std::abs(expected.real(i)));
  }
  const bool is_float = expected.type.dtype.is_float();
  for (std::int64_t i = 0; i < expected.type.elements(); ++i) {
    if (!is_float && expected.integer(i) == found.integer(i)) continue;
    const double want = expected.real(i), got = found.real(i);
    if (is_float && (want == got || (std::isnan(want) && std::isnan(got)))) continue;
    if (is_float && std::abs(want - got) <= tolerance * largest) continue;
    return fmt::format("element {} is {}, must be {}", i, got, want);
  }
  return {};
}

}  // namespace

std::vector<Sample> samples_of(std::string_view op) {
  static const auto all = read_samples();
  const auto found = all.find(op);
  return found == all.end() ? std::vector<Sample>{} : found->second;
}

Result<graph::Graph> graph_of(const Sample& sample) {
  graph::Builder builder(sample.op);
  std::vector<graph::ValueId> operands;
  for (std::size_t i = 0; i < sample.operands.size(); ++i) {
    const ConstantPtr& value = sample.operands[i];
    operands.push_back(value == nullptr  ? graph::kNoValue
                       : sample.known[i] ? builder.constant(value)
                                         : builder.input(fmt::format("in{}", i), value->type));
  }
  ATTUNE_ASSIGN(std::vector<graph::ValueId> outputs,
                builder.add_node(sample.op, operands, sample.attributes, sample.bodies));
  return std::move(builder).finish(std::move(outputs));
}

std::vector<ConstantPtr> inputs_of(const Sample& sample) {
  std::vector<ConstantPtr> inputs;
  for (std::size_t i = 0; i < sample.operands.size(); ++i) {
    if (sample.operands[i] != nullptr && !sample.known[i]) inputs.push_back(sample.operands[i]);
  }
  return inputs;
}

ops::OpCall call_of(const Sample& sample) {
  ops::OpCall call{sample.op, sample.attributes, {}, {}, sample.operands, {}};
  for (const ConstantPtr& operand : sample.operands) {
    call.present.push_back(operand != nullptr);
    call.inputs.push_back(operand == nullptr ? ops::TensorType{} : operand->type);
  }
  return call;
}

Result<std::vector<ConstantPtr>> meaning_of(const Sample& sample) {
  if (!sample.expected.empty()) return sample.expected;
  return graph::evaluate(call_of(sample), model::run_host_on_constants);
}

std::string difference_of(const std::vector<ConstantPtr>& expected,
                          const std::vector<ConstantPtr>& found, double tolerance) {
  if (expected.size() != found.size()) {
    return fmt::format("{} outputs, must be {}", found.size(), expected.size());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const ops::TensorType &want = expected[i]->type, &got = found[i]->type;
    if (want.dtype != got.dtype || want.shape != got.shape) {
      return fmt::format("output {} is {}, must be {}", i, to_string(got), to_string(want));
    }
    const std::string wrong = different_elements(*expected[i], *found[i], tolerance);
    if (!wrong.empty()) return fmt::format("output {}: {}", i, wrong);
  }
  return {};
}

}  // namespace attune::test
