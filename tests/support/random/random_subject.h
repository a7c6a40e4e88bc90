// Random programs to schedule: operators of every family on small sizes that divide nothing, in all
// types they know, with their algorithms, and programs of our own with the accesses that operators
// do not have.
#pragma once

#include <string>

#include "base/rng.h"
#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/target/target.h"

namespace attune::test {

struct Subject {
  std::string name;       // the operator in text and the algorithm, or the name of a program
  ir::Program program;    // what is scheduled
  ir::Program reference;  // what it must agree with
  double tolerance = 0;   // a fraction of the largest magnitude of the result
};

// An operator spec such as "conv2d:h=5,w=7,…" that is valid.
std::string random_op_spec(Rng& rng, const target::Target& target);
// An operator or one of our own programs; the target must be resolved.
Subject random_subject(Rng& rng, const target::Target& target);
// An operator, never one of our own.
Subject random_operator(Rng& rng, const target::Target& target);

}  // namespace attune::test
