// Artifacts of a small model with other schedules, and what its kernels take in them.
#include "tuner/whole_model/contest/model_variants.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "compiler/graph/builder.h"
#include "compiler/model/ahead.h"
#include "targets/kinds.h"
#include "tuner/whole_model/contest/kernel_times.h"

namespace attune::whole_model {
namespace {

using Ints = std::vector<std::int64_t>;

class ModelVariantsTest : public testing::Test {
 protected:
  ModelVariantsTest() {
    const graph::Folding options{.run_host = model::run_host_on_constants};
    graph::Builder builder("model", options);
    const graph::ValueId input = builder.input("x", {ir::kF32, {1, 16, 8, 8}});
    const graph::ValueId first = add_conv(builder, input, 1);
    const graph::ValueId second = add_conv(builder, first, 3);
    compile_.target = *targets::resolve(target::Target{});
    compile_.name = "model";
    tasks_ = model::prepare_tasks(std::move(builder).finish({second}), compile_).value();
    output_ = testing::TempDir() + "/model_variants_test." + std::to_string(getpid());
  }

  static graph::ValueId add_conv(graph::Builder& builder, graph::ValueId data,
                                 std::int64_t kernel) {
    const ir::Array weights(ir::kF32, {16, 16, kernel, kernel});
    const std::int64_t pad = kernel / 2;
    return *builder.add("conv", {data, builder.constant(ops::make_constant(weights))},
                        {{"kernel_shape", Ints{kernel, kernel}},
                         {"strides", Ints{1, 1}},
                         {"pads", Ints{pad, pad, pad, pad}},
                         {"dilations", Ints{1, 1}},
                         {"group", std::int64_t{1}}});
  }

  // Default schedules, and for the first task the program as it is written.
  ModelVariants variants() const {
    ModelVariants result(tasks_, compile_, output_);
    for (const graph::Task& task : tasks_.distinct) {
      std::vector<model::Schedule> schedules{
          model::default_schedule(task, compile_.target, {"direct"})};
      if (&task == &tasks_.distinct.front()) schedules.push_back(model::recorded_schedule({}));
      result.add_task(std::move(schedules));
    }
    return result;
  }

  static std::string contents_of(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    std::string text(1 << 20, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
  }

  model::CompileOptions compile_;
  model::ModelTasks tasks_;
  std::string output_;
};

TEST_F(ModelVariantsTest, AMixHasTheSchedulesOfTheArtifactsItIsMadeOf) {
  ModelVariants all = variants();
  ASSERT_TRUE(all.write(0).ok());
  EXPECT_EQ(all.most_artifacts(), 2U);
  ASSERT_TRUE(all.write_others(2).ok());
  std::vector<std::size_t> numbers(tasks_.distinct.size(), 0);
  ASSERT_TRUE(all.write_mixed(numbers).ok());
  numbers.front() = 1;
  ASSERT_TRUE(all.write_mixed(numbers).ok());
  ASSERT_EQ(all.paths().size(), 4U);
  // Only the first task has a second schedule.
  EXPECT_EQ(contents_of(all.paths()[2]), contents_of(all.paths()[0]));
  EXPECT_EQ(contents_of(all.paths()[3]), contents_of(all.paths()[1]));
  EXPECT_NE(contents_of(all.paths()[1]), contents_of(all.paths()[0]));
}

TEST_F(ModelVariantsTest, EveryKernelIsTimedInEveryArtifact) {
  ModelVariants all = variants();
  ASSERT_TRUE(all.write(0).ok());
  ASSERT_TRUE(all.write_others(2).ok());
  const auto times = time_kernels(all.paths(), {}, {.seconds = 0.01, .rounds = 2});
  ASSERT_TRUE(times.ok()) << times.error().message;
  ASSERT_EQ(times->size(), 2U);
  for (const KernelTimes& each : *times) {
    ASSERT_EQ(each.size(), tasks_.distinct.size());
    for (const double us : each) EXPECT_GT(us, 0);
  }
}

TEST_F(ModelVariantsTest, FilesGoWithTheirOwner) {
  std::vector<std::string> paths;
  {
    ModelVariants all = variants();
    ASSERT_TRUE(all.write(0).ok());
    ASSERT_TRUE(all.write_others(2).ok());
    paths = all.paths();
    all.forget_others();
    EXPECT_EQ(all.paths(), std::vector<std::string>{paths[0]});
    EXPECT_TRUE(std::filesystem::exists(paths[0]));
    EXPECT_FALSE(std::filesystem::exists(paths[1]));
  }
  EXPECT_FALSE(std::filesystem::exists(paths[0]));
}

}  // namespace
}  // namespace attune::whole_model
