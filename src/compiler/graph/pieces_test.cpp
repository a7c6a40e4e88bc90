// Which values lie within others.
#include "compiler/graph/pieces.h"

#include <gtest/gtest.h>

#include "compiler/graph/builder.h"

namespace attune::graph {
namespace {

using Ints = std::vector<std::int64_t>;

// Rows of a computed value, taken as a view of a slice; `rows` have `columns` elements each.
struct Rows {
  Builder builder{"rows"};
  ValueId all, second;

  explicit Rows(std::int64_t columns) {
    const ValueId x = builder.input("x", {ir::kF32, {2, columns}, {}});
    all = *builder.add("relu", {x});
    const ValueId row =
        *builder.add("slice", {all},
                     {{"starts", Ints{1, 0}}, {"steps", Ints{1, 1}}, {"shape", Ints{1, columns}}});
    second = *builder.add("reshape", {row}, {{"shape", Ints{columns}}});
  }
};

Piece piece_of(const Graph& graph, ValueId id, bool copies_outputs) {
  return find_pieces(graph, copies_outputs).of_value[static_cast<std::size_t>(id)];
}

TEST(Pieces, OutputsThatAreCopiedLieWhereTheyWereComputed) {
  Rows rows(5);
  const Graph graph = std::move(rows.builder).finish({rows.second});
  const Piece copied = piece_of(graph, rows.second, true);
  EXPECT_EQ(copied.whole, rows.all);
  EXPECT_EQ(copied.offset, 20);
  const Piece own = piece_of(graph, rows.second, false);
  EXPECT_EQ(own.whole, rows.second);
  EXPECT_EQ(own.offset, 0);
}

TEST(Pieces, WhatKernelsReadIsAligned) {
  for (const std::int64_t columns : {5, 16}) {
    Rows rows(columns);
    const ValueId read = *rows.builder.add("exp", {rows.second});
    const Graph graph = std::move(rows.builder).finish({rows.second, read});
    const auto row = static_cast<std::size_t>(graph.nodes[1].outputs[0]);
    const Pieces pieces = find_pieces(graph, true);
    EXPECT_EQ(pieces.is_free[1], columns == 16);
    EXPECT_EQ(pieces.of_value[row].whole == rows.all, columns == 16);
  }
}

}  // namespace
}  // namespace attune::graph
