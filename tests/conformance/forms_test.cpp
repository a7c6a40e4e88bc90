// The forms of heavy operators that have fast schedules, and their algorithms, are written beside
// the operators of graphs: each gives what the operator means, whatever its layout.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/rng.h"
#include "compiler/graph/builder.h"
#include "compiler/ir/interpret/interpret.h"
#include "compiler/ops/element_types.h"
#include "compiler/ops/forms/blocked_layout.h"
#include "compiler/ops/forms/family.h"
#include "tests/support/operator_samples.h"
#include "tests/support/sample_lines.h"

namespace attune::test {
namespace {

using ops::ConstantPtr;

struct Form {
  std::string family;
  std::string keys;  // "m=5 n=7"; those left out have their defaults
  // As a line of operators.txt, operands in the order of the form's inputs; empty for a form of
  // several operators, which means what these do one after the other.
  std::string meaning;
};

std::string conv(std::string_view operands, std::string_view kernel, std::string_view strides,
                 std::string_view pads, int group, std::string_view types) {
  return fmt::format(
      "conv({}) {{kernel_shape=[{}], strides=[{}], pads=[{}], dilations=[1,1], group={}}} : {}",
      operands, kernel, strides, pads, group, types);
}

std::string pool(std::string_view op, std::string_view more) {
  return fmt::format(
      "{} {{kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1], dilations=[1,1]{}}}"
      " : f32 f16",
      op, more);
}

std::vector<Form> forms() {
  const std::string average = ", count_include_pad={0}, counted_pads=[{0},{0},{0},{0}]";
  return {
      {"matmul", "m=5 n=19 k=7", "matmul(T[5,7], T[7,19]) : f32 f16 i8 i32"},
      {"dense", "m=5 n=19 k=7", "matmul(T[5,7], T[7,19]) : f32 bf16 u8"},
      {"batch_matmul", "b=3 m=5 n=9 k=7", "matmul(T[3,5,7], T[3,7,9]) : f32 i8"},
      {"attention", "heads=4 m=9 n=7 d=5 kv=2", ""},
      {"attention", "heads=2 m=9 n=11 d=5 causal=yes", ""},
      {"conv2d", "h=9 w=7 ic=12 oc=20 kh=3 kw=3 pad=1",
       conv("T[1,12,9,7], T[20,12,3,3]", "3,3", "1,1", "1,1,1,1", 1, "f32 f16 i8")},
      {"conv2d", "n=2 h=14 w=14 ic=16 oc=16 kh=3 kw=3 pad=1",
       conv("T[2,16,14,14], T[16,16,3,3]", "3,3", "1,1", "1,1,1,1", 1, "f32")},
      {"conv2d", "h=11 w=9 ic=3 oc=9 kh=5 kw=5 stride=2 pad=2",
       conv("T[1,3,11,9], T[9,3,5,5]", "5,5", "2,2", "2,2,2,2", 1, "f32 u8")},
      {"conv2d", "h=8 w=8 ic=32 oc=32 kh=1 kw=1",
       conv("T[1,32,8,8], T[32,32,1,1]", "1,1", "1,1", "0,0,0,0", 1, "f32")},
      {"conv2d", "h=7 w=9 ic=8 oc=12 kh=3 kw=3 pad=1 groups=4",
       conv("T[1,8,7,9], T[12,2,3,3]", "3,3", "1,1", "1,1,1,1", 4, "f32")},
      {"depthwise", "h=7 w=9 c=20 k=3",
       conv("T[1,20,7,9], T[20,1,3,3]", "3,3", "1,1", "1,1,1,1", 20, "f32 f16")},
      {"conv2d_transpose", "h=5 w=4 ic=9 oc=20 kh=4 kw=4 stride=2 pad=1",
       "conv_transpose(T[1,9,5,4], T[9,20,4,4]) {kernel_shape=[4,4], strides=[2,2], "
       "pads=[1,1,1,1], dilations=[1,1], group=1, output_padding=[0,0]} : f32 f16"},
      {"maxpool", "h=9 w=11 c=20 k=3 stride=2 pad=1", pool("max_pool(T[1,20,9,11])", "")},
      {"avgpool", "h=9 w=11 c=20 k=3 stride=2 pad=1",
       pool("average_pool(T[1,20,9,11])", fmt::format(fmt::runtime(average), 0))},
      {"avgpool", "h=9 w=11 c=20 k=3 stride=2 pad=1 include_pad=yes",
       pool("average_pool(T[1,20,9,11])", fmt::format(fmt::runtime(average), 1))},
      {"softmax", "m=5 n=37", "softmax(T[5,37]) {axis=1} : f32 f16 bf16"},
      {"layernorm", "m=5 n=37",
       "layer_norm(T[5,37], T[37], T[37]) {axis=1, epsilon=1e-5} : f32 f16 bf16"},
      {"reduce", "m=5 n=37 op=sum", "reduce_sum(T[5,37]) {axes=[1], keepdims=0} : f32 f16 i32"},
      {"reduce", "m=5 n=37 op=mean", "reduce_mean(T[5,37]) {axes=[1], keepdims=0} : f32 f16"},
      {"reduce", "m=5 n=7 op=prod", "reduce_prod(T[5,7]) {axes=[1], keepdims=0} : f32 i64"},
      {"reduce", "m=5 n=37 op=max", "reduce_max(T[5,37]) {axes=[1], keepdims=0} : f32 i32"},
      {"reduce", "m=5 n=37 op=min", "reduce_min(T[5,37]) {axes=[1], keepdims=0} : f32 i32"},
      {"reduce", "m=5 n=37 op=argmax",
       "arg_max(T[5,37]) {axis=1, keepdims=0, select_last_index=0} : f32 i32"},
      {"reduce", "m=5 n=37 op=argmin",
       "arg_min(T[5,37]) {axis=1, keepdims=0, select_last_index=0} : f32 i32"},
      {"elementwise", "m=5 n=37 op=gelu", "gelu(T[5,37]) {approximate=none} : f32 f16"},
      {"elementwise", "m=5 n=37 op=relu6", "clip(T[5,37], f32[]=(0), f32[]=(6)) : f32"},
      {"elementwise", "m=5 n=37 op=bias", "add(T[5,37], T[37]) : f32 i32"},
      {"transpose", "d0=3 d1=5 d2=7 perm=201", "transpose(T[3,5,7]) {perm=[2,0,1]} : f32 i8"},
  };
}

// The keys that are given, and the defaults of the others: a value, that of another key, or half of
// it.
ops::Arguments arguments_of(const ops::Family& family, const std::string& text, ir::DType type) {
  std::map<std::string, std::string> given;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    given[one.substr(0, one.find('='))] = one.substr(one.find('=') + 1);
    begin = end + 1;
  }
  ops::Arguments arguments;
  arguments.dtype = type;
  for (const ops::Key& key : family.keys) {
    std::string value = given.count(key.name) != 0 ? given[key.name] : key.fallback;
    if (value.starts_with("=")) {
      const bool half = value.ends_with("/2");
      const std::string other = value.substr(1, value.size() - (half ? 3 : 1));
      value = std::to_string(arguments.number(other) / (half ? 2 : 1));
    }
    if (key.kind == ops::KeyKind::Word) {
      arguments.words[key.name] = value;
    } else {
      arguments.numbers[key.name] = std::stoll(value);
    }
  }
  return arguments;
}

const ops::BlockedTensor* blocked(const ops::Operator& op, const std::string& name) {
  const auto found = std::find_if(op.blocked.begin(), op.blocked.end(),
                                  [&](const ops::BlockedTensor& one) { return one.name == name; });
  return found == op.blocked.end() ? nullptr : &*found;
}

ConstantPtr random_values(const ir::DType type, const std::vector<std::int64_t>& shape, Rng& rng) {
  ir::Array array(type, shape);
  for (std::int64_t i = 0; i < array.count(); ++i) {
    type.is_float() ? array.set_real(i, static_cast<double>(rng.between(-32, 32)) / 16)
                    : array.set_int(i, rng.between(-8, 7));
  }
  return ops::make_constant(std::move(array));
}

// The form's result on these operands, which it may want in blocks, in plain layout.
Result<ConstantPtr> run_form(const ops::Operator& op, const ir::Program& program,
                             const std::vector<ConstantPtr>& operands) {
  std::vector<ir::Array> inputs;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const ir::BufferNode& buffer = *program.inputs[i].buffer;
    ir::Array plain = ops::to_array(*operands.at(i));
    const ops::BlockedTensor* tensor = blocked(op, buffer.name);
    if (tensor != nullptr) {
      ir::Array packed(buffer.type, buffer.shape);
      ops::pack_channels(buffer.shape, tensor->channels,
                         static_cast<std::size_t>(buffer.type.element_bytes()), plain.data,
                         packed.data);
      plain = std::move(packed);
    }
    inputs.push_back(std::move(plain));
  }
  ATTUNE_ASSIGN(const std::vector<ir::Array> outputs, ir::interpret(program, inputs));
  const ir::Array& result = outputs[0];
  const ops::BlockedTensor* tensor = blocked(op, program.outputs[0]->name);
  if (tensor == nullptr) return ops::make_constant(result);
  ir::Array plain(result.type, ops::plain_shape(result.shape, tensor->channels));
  ops::unpack_channels(result.shape, tensor->channels,
                       static_cast<std::size_t>(result.type.element_bytes()), result.data,
                       plain.data);
  return ops::make_constant(std::move(plain));
}

void check_form(const Form& form, const ops::Family& family, const SampleLine& line,
                ir::DType type) {
  SCOPED_TRACE(fmt::format("{}:{} {}", form.family, form.keys, to_string(type)));
  const auto op = family.build(arguments_of(family, form.keys, type));
  ASSERT_TRUE(op.ok()) << op.error().message;
  Rng rng(5);
  Sample sample{.text = form.meaning, .op = line.op, .attributes = line.attributes};
  for (const SampleOperand& operand : line.operands) {
    sample.operands.push_back(random_values(type, operand.shape, rng));
    if (operand.values.empty()) continue;
    ir::Array array(type, operand.shape);
    array.set_real(0, operand.values[0]);
    sample.operands.back() = ops::make_constant(std::move(array));
  }
  const auto expected = meaning_of(sample);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  const auto check = [&](const std::string& name, const ir::Program& program, double tolerance) {
    const auto found = run_form(*op, program, sample.operands);
    ASSERT_TRUE(found.ok()) << name << ": " << found.error().message;
    EXPECT_EQ(difference_of(*expected, {*found}, tolerance), "") << name;
  };
  check("direct", op->program, op->tolerance);
  for (const ops::AlgorithmDef& other : op->alternatives) {
    check(other.name, other.program, other.tolerance);
  }
}

// The operators of the form's graph, one after the other.
void check_operators(const Form& form, const ops::Family& family, ir::DType type) {
  SCOPED_TRACE(fmt::format("{}:{} {}", form.family, form.keys, to_string(type)));
  const ops::Arguments arguments = arguments_of(family, form.keys, type);
  const auto op = family.build(arguments);
  ASSERT_TRUE(op.ok()) << op.error().message;
  Rng rng(5);
  std::vector<ConstantPtr> inputs;
  ConstantPtr last;
  for (const ops::SpecNode& node : family.graph(arguments).nodes) {
    Sample sample{.text = node.op, .op = node.op, .attributes = node.attributes};
    for (const ops::SpecOperand& operand : node.operands) {
      inputs.push_back(random_values(type, operand.shape, rng));
      sample.operands.push_back(inputs.back());
    }
    for (const double number : node.numbers) {
      sample.operands.push_back(ops::scalar_constant(type, number));
    }
    if (last) {
      const auto place = static_cast<std::ptrdiff_t>(node.result_at);
      sample.operands.insert(sample.operands.begin() + place, last);
    }
    const auto computed = meaning_of(sample);
    ASSERT_TRUE(computed.ok()) << computed.error().message;
    last = computed->front();
  }
  const auto found = run_form(*op, op->program, inputs);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(difference_of({last}, {*found}, op->tolerance), "");
}

TEST(Forms, MeanWhatTheOperatorMeans) {
  for (const ops::Family& family : ops::families()) {
    int checked = 0;
    for (const Form& form : forms()) {
      if (form.family != family.name) continue;
      if (form.meaning.empty()) {
        for (const ir::DType type : {ir::kF32, ir::kF16}) check_operators(form, family, type);
        ++checked;
        continue;
      }
      const auto line = parse_sample_line(form.meaning);
      ASSERT_TRUE(line.ok()) << form.meaning << ": " << line.error().message;
      for (const ir::DType type : line->types) check_form(form, family, *line, type);
      ++checked;
    }
    EXPECT_GT(checked, 0) << "form '" << family.name << "' is compared with no operator";
  }
}

}  // namespace
}  // namespace attune::test
