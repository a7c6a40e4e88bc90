// The loops of a schedule as a tree, for models that recurse over it: a loop is the parent of the
// loops that run directly inside of it, those of other stages that are computed there included.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/target/target.h"
#include "tuner/space/space.h"

namespace attune::features {

struct LoopTree {
  // Node 0 is the program itself (its vector is all zero); every other node is a loop. Parents come
  // before their children; the parent of node 0 is -1.
  std::vector<int> parent;
  // loop_tree_width() numbers a node, one after the other.
  std::vector<float> context;

  std::size_t size() const { return parent.size(); }
};

// Of the vector of one node: log length, annotation, log iterations around and inside, and per
// slot of buffers (loop_facts.h) log elements, log bytes, log reuse, log stride.
std::size_t loop_tree_width();

LoopTree loop_tree(const space::Scheduled& scheduled, const target::Target& target);

}  // namespace attune::features
