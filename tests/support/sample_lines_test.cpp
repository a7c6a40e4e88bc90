#include "tests/support/sample_lines.h"

#include <gtest/gtest.h>

namespace attune::test {
namespace {

TEST(SampleLines, SayOperandsAttributesAndTypes) {
  const auto line = parse_sample_line(
      "pad(T[3,1]@-1..2.5!, _, i64[2]=(1,-2)) {pads=[1,0,-1,2], mode=edge, eps=1e-5, n=-3, "
      "text=\"a, b\"} : floats i8");
  ASSERT_TRUE(line.ok()) << line.error().message;
  EXPECT_EQ(line->op, "pad");
  ASSERT_EQ(line->operands.size(), 3u);
  const SampleOperand& first = line->operands[0];
  EXPECT_EQ(first.type, "T");
  EXPECT_EQ(first.shape, (std::vector<std::int64_t>{3, 1}));
  EXPECT_TRUE(first.known && first.has_range && first.low == -1 && first.high == 2.5);
  EXPECT_FALSE(line->operands[1].present);
  EXPECT_EQ(line->operands[2].values, (std::vector<double>{1, -2}));
  const auto& attributes = line->attributes;
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(attributes.at("pads")),
            (std::vector<std::int64_t>{1, 0, -1, 2}));
  EXPECT_EQ(std::get<std::string>(attributes.at("mode")), "edge");
  EXPECT_EQ(std::get<double>(attributes.at("eps")), 1e-5);
  EXPECT_EQ(std::get<std::int64_t>(attributes.at("n")), -3);
  EXPECT_EQ(std::get<std::string>(attributes.at("text")), "a, b");
  EXPECT_EQ(line->types,
            (std::vector<ir::DType>{ir::kF32, ir::kF64, ir::kF16, ir::kBF16, ir::kI8}));
}

TEST(SampleLines, NameWhatIsNotUnderstood) {
  EXPECT_EQ(parse_sample_line("add").error().message, "'' where (operands) is expected");
  EXPECT_EQ(parse_sample_line("add(T)").error().message, "')' where [shape] is expected");
  EXPECT_EQ(parse_sample_line("add(T[2] T[2])").error().message,
            "'T[2])' where a comma is expected");
  EXPECT_EQ(parse_sample_line("add(T[2]) : f33").error().message, "'f33' is no type");
  EXPECT_EQ(parse_sample_line("add(T[2]) x").error().message, "'x' where the end is expected");
}

}  // namespace
}  // namespace attune::test
