// What a program is compiled for: a kind plus attributes, in text `cpu -mcpu=znver3 -threads=2`. A
// target as the user writes it may leave attributes out; its kind resolves it to a full one
// (targets/kinds.h), and only resolved targets become part of a key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/target/default_kind.h"
#include "compiler/target/launch_facts.h"
#include "compiler/target/machine.h"

namespace attune::target {

struct Target {
  std::string kind{kDefaultKind};
  // Those that the kind knows, by name and value, in its order; what is left out is not there.
  std::vector<std::pair<std::string, std::string>> attributes = {};
  int threads = 0;  // of the host that run it; 0 = all cores

  // Facts that schedules depend on; filled when the target is resolved, not part of the text.
  int vector_bytes = 32;
  int vector_registers = 16;
  bool fma = true;
  // The fewest bytes of an element that vectors load and store under a mask; 0: they do not.
  int masked_bytes = 0;
  std::int64_t l1_bytes = 32 << 10;
  std::int64_t l2_bytes = 512 << 10;
  std::int64_t l3_bytes = 16 << 20;
  Machine machine = {};
  LaunchFacts launch = {};
  // Whether cores share the rounds of a loop; in a launch its blocks and threads do.
  bool parallel_loops = true;
  // Whether one kernel may hold two products, the second of which reads the first.
  bool fuses_chains = true;
  // Whether a block of channels is a vector of f32, in which sums are kept, whatever its elements.
  bool blocks_are_of_sums = true;

  int lanes(int element_bytes) const { return vector_bytes / element_bytes; }
  // Channels of one block of activations, whose elements have so many bytes: a vector of the type
  // that sums are kept in, or what one access moves.
  int channel_block(int element_bytes) const {
    return lanes(blocks_are_of_sums ? 4 : element_bytes);
  }

  // "" for one that is not there.
  std::string_view attribute(std::string_view name) const;
  void set(std::string_view name, std::string_view value);
};

// "cpu -triple=… -mcpu=… -mattr=… -threads=N": the attributes in their order, threads last.
std::string to_string(const Target& target);

}  // namespace attune::target
