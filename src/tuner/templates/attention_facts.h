// What the template of attention asks of a program (graph/tasks/attention.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/templates/fused_stages.h"

namespace attune::templates {

inline const std::string kScores = "scores.output", kFirst = "scores.anchor", kMax = "weights.max",
                         kExp = "weights.exp", kSum = "weights.sum", kParts = "parts";

// The tensor that the first product reads by query: its name, the stage that makes it, if any, and
// the dimensions of queries and terms.
struct Queries {
  std::string tensor;
  const ir::Stage* stage = nullptr;
  std::size_t rank = 0;
  int i = -1, k = -1;
};
std::optional<Queries> queries_of(const ir::Program& program);

// A tensor with an element for each query and key, which is added to scores or decides about them.
struct Mask {
  std::string tensor;
  bool constant;
  std::size_t rank, i, j;  // the dimensions of queries and keys
};
std::vector<Mask> masks_of(const ir::Program& program, const Queries& queries);

// Whether which keys a query sees is a rule about its place (graph/tasks/attention_program.h).
bool sees_by_place(const ir::Program& program);

// Stages of the first half that are not scheduled one by one.
std::vector<const ir::Stage*> inlined_stages(const ir::Program& program, const Queries& queries);

// What stands around the second product.
FusedStages fused_around_attention(const ir::Program& program);

bool is_attention(const ir::Program& program);

}  // namespace attune::templates
