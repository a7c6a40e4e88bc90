// What templates offer of register tiles, and how they cut sums.
#include "tuner/templates/register_tile.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/ops/forms/matmul.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

target::Target target_of(int registers) {
  target::Target target;
  target.vector_bytes = 32;
  target.vector_registers = registers;
  return target;
}

TEST(RegisterTiles, FitIntoTheRegisters) {
  for (const int registers : {16, 32}) {
    const target::Target target = target_of(registers);
    const space::Knob tiles = register_tiles("tile", 100, 100, target);
    ASSERT_FALSE(tiles.choices.empty());
    for (const space::Choice& tile : tiles.choices) {
      const std::int64_t rows = tile.numbers[0], vectors = tile.numbers[1];
      EXPECT_LE(rows * vectors + std::min(rows, vectors) + 1, registers);
    }
  }
}

TEST(RegisterTiles, ShrinkWithTheExtents) {
  const target::Target target = target_of(16);
  for (const std::int64_t rows : {1, 2, 3}) {
    const space::Knob tiles = register_tiles("tile", rows, 2, target);
    ASSERT_FALSE(tiles.choices.empty());
    for (const space::Choice& tile : tiles.choices) {
      EXPECT_LE(tile.numbers[0], rows);
      EXPECT_LE(tile.numbers[1], 2);
    }
  }
}

TEST(ProgramFacts, SumsHavePartsOfAboutTheSameLength) {
  const ir::Program product = ops::build_matmul({.m = 4, .n = 4, .k = 4}).value();
  const ir::Stage& sum = *product.find_stage("anchor");
  EXPECT_EQ(steps_of_part(sum, 4, 9 * 16), 1);
  EXPECT_EQ(steps_of_part(sum, 8, 9 * 8), 2);
  EXPECT_EQ(steps_of_part(sum, 3, 7 * 7), 3);  // hardly more than one part
  EXPECT_EQ(steps_of_part(sum, 1024, 1, 384), 256);
  EXPECT_EQ(steps_of_part(sum, 37, 16), 8);
  EXPECT_EQ(steps_of_part(*product.find_stage("output"), 1024, 1), 1024);
}

}  // namespace
}  // namespace attune::templates
