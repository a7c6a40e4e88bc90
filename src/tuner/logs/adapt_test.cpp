#include "tuner/logs/adapt.h"

#include <gtest/gtest.h>

#include "tuner/logs/importer.h"
#include "tuner/logs/sample_lines_testing.h"
#include "tuner/templates/fused_testing.h"

namespace attune::logs {
namespace {

target::Target target() {
  target::Target target;
  target.threads = 2;
  target.vector_bytes = 64;
  target.vector_registers = 32;
  return target;
}

ir::Program program(const std::string& spec) {
  auto task = op_spec::parse_op_spec(spec, target());
  EXPECT_TRUE(task.ok()) << spec;
  return std::move(task->program);
}

const char* const kConv = "conv2d:h=56,w=56,ic=64,oc=64,kh=3,kw=3,pad=1";

TEST(Adapt, TheAnchorIsTheSameWhateverFollows) {
  const std::string key = anchor_key(program(kConv));
  EXPECT_EQ(key.size(), 16u);
  EXPECT_EQ(anchor_key(templates::with_epilogue(program(kConv), {})), key);
  EXPECT_NE(anchor_key(templates::with_prologue(program(kConv))), key);
  EXPECT_NE(anchor_key(program("conv2d:h=56,w=56,ic=64,oc=64,kh=3,kw=3,pad=1,pad_w=0")), key);
  EXPECT_NE(anchor_key(program("dense:m=8,n=8,k=8")), anchor_key(program("dense:m=8,n=8,k=9")));
  EXPECT_EQ(anchor_key({"empty", {}, {}, {}}), "");
}

TEST(Adapt, HintsBecomeSchedulesOfFusedTasks) {
  Importer importer(target(), "autotvm test.log", 0);
  importer.take(conv2d_line());
  const std::vector<records::Hint> hints = importer.hints();
  ASSERT_EQ(hints.size(), 1u);
  EXPECT_EQ(hints[0].anchor_key, anchor_key(program(kConv)));
  EXPECT_EQ(hints[0].config.rfind("direct tile=14x2 ", 0), 0u) << hints[0].config;
  const space::NamedProgram fused{"direct", templates::with_epilogue(program(kConv), {})};
  const auto traces = adapt_hints(hints, {&fused, 1}, target());
  ASSERT_EQ(traces.size(), 1u);
  const std::string text = schedule::to_string(traces[0]);
  EXPECT_NE(text, hints[0].trace);
  EXPECT_NE(text.find(" 14\n"), std::string::npos) << text;
  EXPECT_TRUE(schedule::replay(fused.program, traces[0]).ok());
}

TEST(Adapt, LeavesOutWhatDoesNotFit) {
  const space::NamedProgram fused{"direct", templates::with_epilogue(program(kConv), {})};
  std::vector<records::Hint> hints(4);
  hints[0].config = "winograd4 tile=4x2";
  hints[1].config = "";
  hints[2].config = "direct tile=frog nonsense tile=3x3";
  hints[3].config = hints[2].config;
  EXPECT_EQ(adapt_hints(hints, {&fused, 1}, target()).size(), 1u);
}

}  // namespace
}  // namespace attune::logs
