// How attention is cut into blocks and threads, and the steps that schedule it so.
#pragma once

#include "tuner/templates/launches/launch_writer.h"

namespace attune::templates {

struct AttentionShape {
  std::int64_t batch = 1, queries = 1, keys = 1, terms = 1, columns = 1;
};

AttentionShape attention_shape(const ir::Program& program);

// How a block is cut.
struct AttentionTiles {
  std::int64_t rows = 8, each = 1;  // of threads; queries that a thread has
  std::int64_t lanes = 16;
  std::int64_t keys = 4;    // neighbouring ones that a thread multiplies at once
  std::int64_t terms = 32;  // that are fetched together; 0: keys are read where they lie
  std::int64_t steps = 8;   // keys of the second product whose reads are under way together

  std::int64_t queries() const { return rows * each; }
};

// Groups of lanes that take a range of keys of the second product each.
std::int64_t key_groups(const AttentionShape& s, const AttentionTiles& t);

// The most lanes of a row that reduce it.
inline constexpr std::int64_t kReducingLanes = 32;
// Elements that are moved at once.
inline constexpr std::int64_t kAttentionVector = 4;

// The program as one launch; false when a step failed.
bool write_attention(LaunchWriter& writer, const ir::Program& program, const AttentionTiles& tiles);

}  // namespace attune::templates
