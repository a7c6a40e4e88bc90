// Common subexpressions: nodes with equal operator, attributes and inputs become one, and so do
// equal small constants and constants that are the same memory. Host operators and control flow
// stay: some of them draw random numbers.
#include <bit>
#include <unordered_map>

#include "base/hash.h"
#include "base/match.h"
#include "compiler/graph/constants.h"
#include "compiler/graph/passes/pass_list.h"
#include "compiler/graph/passes/rewriter.h"

namespace attune::graph {
namespace {

constexpr std::size_t kSmallBytes = 4096;

std::uint64_t hash_attribute(const ops::Attribute& attribute) {
  return std::visit(Match{[](std::int64_t number) { return static_cast<std::uint64_t>(number); },
                          [](double number) { return std::bit_cast<std::uint64_t>(number); },
                          [](const std::string& word) { return hash_bytes(word); },
                          [](const auto& list) {
                            std::uint64_t hash = list.size();
                            for (const auto& element : list) {
                              hash = hash_combine(hash, hash_attribute(ops::Attribute(element)));
                            }
                            return hash;
                          }},
                    attribute);
}

std::uint64_t hash_node(const Node& node) {
  std::uint64_t hash = hash_bytes(node.op);
  for (const ValueId id : node.inputs) hash = hash_combine(hash, static_cast<std::uint64_t>(id));
  for (const auto& [key, attribute] : node.attributes) {
    hash = hash_combine(hash_combine(hash, hash_bytes(key)), hash_attribute(attribute));
  }
  return hash;
}

std::uint64_t hash_constant(const Constant& constant) {
  const bool small = constant.bytes.size() <= kSmallBytes;
  std::uint64_t hash = hash_combine(constant.bytes.size(), constant.type.dtype.bits);
  if (!small) return hash_combine(hash, reinterpret_cast<std::uintptr_t>(constant.bytes.data()));
  return hash_combine(hash, hash_bytes({reinterpret_cast<const char*>(constant.bytes.data()),
                                        constant.bytes.size()}));
}

bool are_equal(const Constant& a, const Constant& b) {
  return same_contents(a, b) && (a.bytes.size() <= kSmallBytes || a.bytes.data() == b.bytes.data());
}

void merge_constants(Rewriter& rewriter, const Graph& graph) {
  std::unordered_multimap<std::uint64_t, ValueId> seen;
  for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id) {
    const ConstantPtr constant = rewriter.constant_of(id);
    if (constant == nullptr) continue;
    const std::uint64_t hash = hash_constant(*constant);
    const auto [begin, end] = seen.equal_range(hash);
    bool merged = false;
    for (auto entry = begin; entry != end && !merged; ++entry) {
      if (!are_equal(*rewriter.constant_of(entry->second), *constant)) continue;
      rewriter.replace(id, entry->second);
      merged = true;
    }
    if (!merged) seen.emplace(hash, id);
  }
}

bool may_merge(const Node& node) {
  const ops::OpKind kind = operator_of(node).kind;
  return kind != ops::OpKind::Host && kind != ops::OpKind::Control;
}

bool are_equal(const Node& a, const Node& b) {
  return a.op == b.op && a.inputs == b.inputs && a.attributes == b.attributes &&
         a.outputs.size() == b.outputs.size();
}

}  // namespace

Result<Graph> merge_equal_nodes(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  merge_constants(rewriter, graph);
  std::unordered_multimap<std::uint64_t, int> seen;
  for (int n = 0; n < rewriter.node_count(); ++n) {
    if (!rewriter.alive(n) || !may_merge(rewriter.node(n))) continue;
    const Node& node = rewriter.node(n);
    const std::uint64_t hash = hash_node(node);
    const auto [begin, end] = seen.equal_range(hash);
    bool merged = false;
    for (auto entry = begin; entry != end && !merged; ++entry) {
      const Node& first = rewriter.node(entry->second);
      if (!are_equal(first, node)) continue;
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        rewriter.replace(node.outputs[i], first.outputs[i]);
      }
      merged = true;
    }
    if (!merged) seen.emplace(hash, n);
  }
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
