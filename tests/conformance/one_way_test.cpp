// An operator spec and an ONNX file with the same node go the same way, for every family of specs
// and on one thread or two: the same task, schedules and kernels. Pools stand behind a convolution,
// since alone they would not work on blocks of channels.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "base/temporary_directory_testing.h"
#include "compiler/frontend/op_spec/op_spec.h"
#include "compiler/model/kernels.h"
#include "compiler/model/load/prepared_model.h"
#include "compiler/ops/forms/family.h"
#include "tests/support/tiny_onnx.h"
#include "tuner/records/sample_records_testing.h"
#include "tuner/records/store.h"

namespace attune::model {
namespace {

struct Pair {
  std::string spec;
  std::vector<test::TinyNode> nodes;
  std::vector<test::TinyInput> inputs;
};

test::TinyInput input(const std::string& name, std::vector<std::string> dims) {
  return {name, std::move(dims)};
}
test::TinyInput weight(const std::string& name, std::vector<std::string> dims) {
  return {name, std::move(dims), false, true};
}

// Sizes of channels that fill blocks of any machine: a model has no reason to choose others.
std::vector<Pair> pairs() {
  const test::TinyNode conv{"Conv", {"x", "w"}, "y", {{"pads", {1, 1, 1, 1}}}};
  const auto image = input("x", {"1", "32", "14", "14"});
  const auto filter = weight("w", {"32", "32", "3", "3"});
  test::TinyNode grouped = conv;
  grouped.numbers = {{"group", 32}};
  const std::map<std::string, std::vector<std::int64_t>> window{
      {"kernel_shape", {3, 3}}, {"strides", {2, 2}}, {"pads", {1, 1, 1, 1}}};
  const std::map<std::string, std::int64_t> last_axis{{"axis", 1}};
  return {
      {"matmul:m=24,n=32,k=16",
       {{"MatMul", {"a", "b"}, "y"}},
       {input("a", {"24", "16"}), input("b", {"16", "32"})}},
      {"batch_matmul:b=3,m=12,n=32,k=8",
       {{"MatMul", {"a", "b"}, "y"}},
       {input("a", {"3", "12", "8"}), input("b", {"3", "8", "32"})}},
      {"dense:m=8,n=32,k=16",
       {{"MatMul", {"x", "w"}, "y"}},
       {input("x", {"8", "16"}), weight("w", {"16", "32"})}},
      {"dense:m=8,n=32,k=16",
       {{"Gemm", {"x", "w"}, "y"}},
       {input("x", {"8", "16"}), weight("w", {"16", "32"})}},
      {"attention:heads=4,m=24,n=32,d=16,kv=2",
       {{"Attention", {"q", "k", "v"}, "y"}},
       {input("q", {"1", "4", "24", "16"}), input("k", {"1", "2", "32", "16"}),
        input("v", {"1", "2", "32", "16"})}},
      {"conv2d:h=14,w=14,ic=32,oc=32,kh=3,kw=3,pad=1", {conv}, {image, filter}},
      {"conv2d:h=28,w=28,ic=3,oc=32,kh=3,kw=3,pad=1",
       {conv},
       {input("x", {"1", "3", "28", "28"}), weight("w", {"32", "3", "3", "3"})}},
      {"depthwise:h=14,w=14,c=32,k=3", {grouped}, {image, weight("w", {"32", "1", "3", "3"})}},
      {"conv2d_transpose:h=14,w=14,ic=32,oc=32,kh=3,kw=3,stride=2,pad=1",
       {{"ConvTranspose", {"x", "w"}, "y", {{"strides", {2, 2}}, {"pads", {1, 1, 1, 1}}}}},
       {image, filter}},
      {"maxpool:h=14,w=14,c=32,k=3,stride=2,pad=1",
       {conv, {"MaxPool", {"y"}, "z", window}},
       {image, filter}},
      {"avgpool:h=14,w=14,c=32,k=3,stride=2,pad=1",
       {conv, {"AveragePool", {"y"}, "z", window}},
       {image, filter}},
      {"softmax:m=16,n=100", {{"Softmax", {"x"}, "y"}}, {input("x", {"16", "100"})}},
      {"layernorm:m=16,n=64",
       {{"LayerNormalization", {"x", "g", "b"}, "y"}},
       {input("x", {"16", "64"}), weight("g", {"64"}), weight("b", {"64"})}},
      {"reduce:m=16,n=70,op=max",
       {{"ReduceMax", {"x"}, "y", {{"axes", {1}}}, {{"keepdims", 0}}}},
       {input("x", {"16", "70"})}},
      {"reduce:m=16,n=70,op=argmax",
       {{"ArgMax", {"x"}, "y", {}, {{"axis", 1}, {"keepdims", 0}}}},
       {input("x", {"16", "70"})}},
      {"elementwise:m=16,n=77,op=relu", {{"Relu", {"x"}, "y"}}, {input("x", {"16", "77"})}},
      {"elementwise:m=16,n=77,op=add+relu",
       {{"Add", {"x", "v"}, "s"}, {"Relu", {"s"}, "y"}},
       {input("x", {"16", "77"}), input("v", {"16", "77"})}},
      {"transpose:d0=4,d1=6,d2=10,perm=201",
       {{"Transpose", {"x"}, "y", {{"perm", {2, 0, 1}}}}},
       {input("x", {"4", "6", "10"})}},
  };
}

std::string family_of(const Pair& pair) { return pair.spec.substr(0, pair.spec.find(':')); }

class OneWay : public testing::TestWithParam<std::tuple<Pair, int>> {
 protected:
  OneWay()
      : spec_(std::get<Pair>(GetParam()).spec),
        model_(test::write_tiny_model(directory_.file("model.onnx"),
                                      std::get<Pair>(GetParam()).nodes,
                                      std::get<Pair>(GetParam()).inputs)) {}

  static PreparedModel prepared(const std::string& model, const ScheduleOptions& schedule) {
    const int threads = std::get<int>(GetParam());
    SourceOptions source;
    source.model.model = model;
    source.model.threads = threads;
    source.schedule = schedule;
    auto loaded = load_model(source.model);
    CHECK(loaded.ok(), loaded.ok() ? "" : loaded.error().message);
    auto made = prepare_model(std::move(*loaded), source);
    CHECK(made.ok(), made.ok() ? "" : made.error().message);
    return std::move(*made);
  }
  // The task of the file that the spec is too.
  static const graph::Task* task_with(const PreparedModel& model, const std::string& key) {
    for (const graph::Task& task : model.tasks.distinct) {
      if (task.key == key) return &task;
    }
    return nullptr;
  }
  records::Record record(const PreparedModel& model, const schedule::Trace& trace,
                         double us) const {
    records::Record made = records::sample_record(0, records::timing(us));
    made.task_key = model.tasks.distinct.front().key;
    made.target = model.model.target_text();
    made.trace = schedule::to_string(trace);
    made.trace_hash = schedule::hash(trace);
    return made;
  }

  // What is known of the spec's task, which is the same by both ways, with a bundle that ships.
  static Schedule agreed(const PreparedModel& spec, const PreparedModel& file,
                         const ChooseSchedule& of_spec, const ChooseSchedule& of_file) {
    const graph::Task& task = spec.tasks.distinct.front();
    const graph::Task* other = task_with(file, task.key);
    CHECK(other != nullptr, "the file has no such task");
    const Schedule one = of_spec(task), two = of_file(*other);
    EXPECT_EQ(one.origin, two.origin);
    EXPECT_EQ(one.algorithm, two.algorithm);
    EXPECT_EQ(schedule::to_string(one.trace), schedule::to_string(two.trace));
    EXPECT_EQ(one.measured_us, two.measured_us);
    return one;
  }

  test::TemporaryDirectory directory_;
  std::string spec_, model_;
};

TEST_P(OneWay, TheSameTaskScheduleAndKernel) {
  const ScheduleOptions untuned{.use_default = true};
  const PreparedModel spec = prepared(spec_, untuned), file = prepared(model_, untuned);
  const graph::Task& task = spec.tasks.distinct.front();
  const graph::Task* other = task_with(file, task.key);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(op_spec::parse_op_spec(spec_, spec.model.target)->key, task.key);
  const Schedule one = spec.schedules.front(), two = file.compile.choose(*other);
  EXPECT_EQ(one.algorithm, two.algorithm);
  EXPECT_EQ(schedule::to_string(one.trace), schedule::to_string(two.trace));
  const auto code = compile_task(task, one, spec.model.target, "kernel");
  const auto code_of_file = compile_task(*other, two, file.model.target, "kernel");
  ASSERT_TRUE(code.ok() && code_of_file.ok());
  EXPECT_TRUE(code->fallbacks.empty());
  EXPECT_EQ(code->main.object.bytes, code_of_file->main.object.bytes);
}

TEST_P(OneWay, TheSameRecordWins) {
  const ScheduleOptions known{.records = directory_.file("records.db")};
  const PreparedModel untuned = prepared(spec_, {.use_default = true});
  const schedule::Trace usual = untuned.schedules.front().trace;
  const auto store = records::open_sqlite_store(known.records).value();
  const auto agree = [&] {
    const PreparedModel spec = prepared(spec_, known), file = prepared(model_, known);
    return agreed(spec, file, spec.compile.choose, file.compile.choose);
  };
  // Nothing is known here, the default one is, and another that is faster.
  EXPECT_FALSE(agree().recorded_us());
  ASSERT_TRUE(store->add({{record(untuned, usual, 50)}}).ok());
  agree();
  ASSERT_TRUE(store->add({{record(untuned, {}, 10)}}).ok());
  EXPECT_EQ(agree().recorded_us(), 10);
}

TEST_P(OneWay, TheSameBundledScheduleWins) {
  const ScheduleOptions known{.records = directory_.file("records.db")};
  const PreparedModel spec = prepared(spec_, {.use_default = true});
  const PreparedModel file = prepared(model_, {.use_default = true});
  const graph::Task& task = spec.tasks.distinct.front();
  const schedule::Trace usual = spec.schedules.front().trace;
  // The plain one, measured on this machine and faster than anything.
  const Bundle bundle{{.key = task.key,
                       .name = task.name,
                       .target = bundled_target(spec.model.target),
                       .weights = weights_of(task, spec.model.cold_weights),
                       .shape = shape_of(task.op.program),
                       .best = {{.trace = "", .time_us = 0.5}}}};
  const FindBundle find_bundle = [&] { return Result<Bundle>(bundle); };
  const auto agree = [&] {
    return agreed(spec, file, known_schedules(spec.model, known, find_bundle).value(),
                  known_schedules(file.model, known, find_bundle).value());
  };
  const Schedule shipped = agree();
  EXPECT_EQ(shipped.origin, Origin::Shipped);
  EXPECT_TRUE(shipped.trace.empty());
  EXPECT_EQ(shipped.measured_us, 0.5);
  // A record of the default alone does not keep it away, one of another schedule does.
  const auto store = records::open_sqlite_store(known.records).value();
  if (!usual.empty()) {
    ASSERT_TRUE(store->add({{record(spec, usual, 50)}}).ok());
    EXPECT_EQ(agree().origin, Origin::Shipped);
  }
  ASSERT_TRUE(store->add({{record(spec, {}, 10)}}).ok());
  EXPECT_EQ(agree().origin, Origin::Record);
}

INSTANTIATE_TEST_SUITE_P(Operators, OneWay,
                         testing::Combine(testing::ValuesIn(pairs()), testing::Values(1, 2)),
                         [](const auto& each) {
                           return family_of(std::get<Pair>(each.param)) +
                                  std::to_string(each.index / 2) + "on" +
                                  std::to_string(std::get<int>(each.param));
                         });

// Weights that the last cache keeps, and that it does not: 3 and 5 MB for 4 MB. Of two layers it
// keeps less.
TEST(OneWayWeights, AreAsColdInAFileAsInASpec) {
  const test::TemporaryDirectory directory;
  const auto is_cold = [](const std::string& model) {
    const auto loaded = load_model(
        {.model = model, .target = "cpu -triple=aarch64-linux-gnu -mcpu=cortex-a78 -threads=1"});
    CHECK(loaded.ok(), loaded.ok() ? "" : loaded.error().message);
    EXPECT_EQ(loaded->target.l3_bytes, std::int64_t{4} << 20);
    return loaded->cold_weights;
  };
  const auto file = [&](const std::string& rows, const std::vector<test::TinyNode>& nodes) {
    return test::write_tiny_model(
        directory.file("model.onnx"), nodes,
        {input("x", {"1", rows}), weight("w", {rows, "1024"}), weight("v", {"1024", "16"})});
  };
  const std::vector<test::TinyNode> one{{"MatMul", {"x", "w"}, "y"}};
  const std::vector<test::TinyNode> two{{"MatMul", {"x", "w"}, "h"}, {"MatMul", {"h", "v"}, "y"}};
  EXPECT_FALSE(is_cold("dense:m=1,n=1024,k=768"));
  EXPECT_FALSE(is_cold(file("768", one)));
  EXPECT_TRUE(is_cold(file("768", two)));
  EXPECT_TRUE(is_cold("dense:m=1,n=1024,k=1280"));
  EXPECT_TRUE(is_cold(file("1280", one)));
}

// The table leaves nobody out.
TEST(OneWayTable, HasAPairOfEveryFamily) {
  const std::vector<Pair> all = pairs();
  for (const ops::Family& family : ops::families()) {
    const bool listed = std::any_of(
        all.begin(), all.end(), [&](const Pair& pair) { return family_of(pair) == family.name; });
    EXPECT_TRUE(listed) << "operator specs '" << family.name << "' have no pair here";
  }
}

}  // namespace
}  // namespace attune::model
