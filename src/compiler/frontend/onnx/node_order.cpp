// The order of nodes: Kahn's algorithm, which keeps the model's own order where that is one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "compiler/frontend/onnx/scope.h"

namespace attune::onnx {
namespace {

void add_reads(const ::onnx::NodeProto& node, std::unordered_set<std::string>& reads);

// Names that a subgraph reads from around it.
void add_free_names(const ::onnx::GraphProto& graph, std::unordered_set<std::string>& reads) {
  std::unordered_set<std::string> inside;
  for (const auto& node : graph.node()) add_reads(node, inside);
  for (const auto& output : graph.output()) inside.insert(output.name());
  for (const auto& input : graph.input()) inside.erase(input.name());
  for (const auto& tensor : graph.initializer()) inside.erase(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) inside.erase(tensor.values().name());
  for (const auto& node : graph.node()) {
    for (const std::string& output : node.output()) inside.erase(output);
  }
  reads.insert(inside.begin(), inside.end());
}

void add_reads(const ::onnx::NodeProto& node, std::unordered_set<std::string>& reads) {
  for (const std::string& input : node.input()) {
    if (!input.empty()) reads.insert(input);
  }
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) add_free_names(attribute.g(), reads);
    for (const auto& graph : attribute.graphs()) add_free_names(graph, reads);
  }
}

class Order {
 public:
  Order(const NodeList& nodes, const Scope& known) : nodes_(nodes), known_(known) {}

  Result<std::vector<const ::onnx::NodeProto*>> run(const std::vector<std::string>& outputs) {
    ATTUNE_RETURN_IF_ERROR(find_producers());
    find_operands();
    mark_needed(outputs);
    return sort();
  }

 private:
  Status find_producers() {
    for (int i = 0; i < nodes_.size(); ++i) {
      for (const std::string& output : nodes_[i].output()) {
        if (output.empty()) continue;
        if (known_.defines(output)) {
          return invalid(fmt::format("'{}' is computed by {}, but is an input or initialiser",
                                     output, label_of(nodes_[i])));
        }
        const auto [entry, is_new] = producers_.emplace(output, i);
        if (!is_new) {
          return invalid(fmt::format("'{}' is computed twice, by {} and {}", output,
                                     label_of(nodes_[entry->second]), label_of(nodes_[i])));
        }
      }
    }
    return {};
  }

  void find_operands() {
    operands_.resize(static_cast<std::size_t>(nodes_.size()));
    for (int i = 0; i < nodes_.size(); ++i) {
      std::unordered_set<std::string> reads;
      add_reads(nodes_[i], reads);
      for (const std::string& name : reads) {
        const auto producer = producers_.find(name);
        if (producer != producers_.end()) operands_[index(i)].push_back(producer->second);
      }
      std::sort(operands_[index(i)].begin(), operands_[index(i)].end());
    }
  }

  void mark_needed(const std::vector<std::string>& outputs) {
    needed_.assign(operands_.size(), false);
    std::vector<int> queue;
    for (const std::string& name : outputs) {
      const auto producer = producers_.find(name);
      if (producer != producers_.end()) queue.push_back(producer->second);
    }
    while (!queue.empty()) {
      const int node = queue.back();
      queue.pop_back();
      if (needed_[index(node)]) continue;
      needed_[index(node)] = true;
      queue.insert(queue.end(), operands_[index(node)].begin(), operands_[index(node)].end());
    }
  }

  Result<std::vector<const ::onnx::NodeProto*>> sort() {
    std::vector<std::size_t> waiting(operands_.size(), 0);
    std::vector<std::vector<int>> readers(operands_.size());
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    std::size_t count = 0;
    for (int i = 0; i < nodes_.size(); ++i) {
      if (!needed_[index(i)]) continue;
      ++count;
      waiting[index(i)] = operands_[index(i)].size();
      for (const int operand : operands_[index(i)]) readers[index(operand)].push_back(i);
      if (waiting[index(i)] == 0) ready.push(i);
    }
    std::vector<const ::onnx::NodeProto*> order;
    while (!ready.empty()) {
      const int node = ready.top();
      ready.pop();
      order.push_back(&nodes_[node]);
      for (const int reader : readers[index(node)]) {
        if (--waiting[index(reader)] == 0) ready.push(reader);
      }
    }
    if (order.size() == count) return order;
    return cycle(waiting);
  }

  // Walks from operand to operand among the nodes that wait for each other.
  Error cycle(const std::vector<std::size_t>& waiting) const {
    int node = 0;
    while (waiting[index(node)] == 0) ++node;
    std::vector<int> path;
    std::unordered_set<int> seen;
    while (seen.insert(node).second) {
      path.push_back(node);
      for (const int operand : operands_[index(node)]) {
        if (waiting[index(operand)] == 0) continue;
        node = operand;
        break;
      }
    }
    std::vector<std::string> labels;
    bool inside = false;
    for (const int step : path) {
      inside |= step == node;
      if (inside && labels.size() < 4) labels.push_back(label_of(nodes_[step]));
    }
    return invalid(fmt::format("the graph has a cycle: {}", fmt::join(labels, " needs ")));
  }

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  const NodeList& nodes_;
  const Scope& known_;
  std::unordered_map<std::string, int> producers_;
  std::vector<std::vector<int>> operands_;
  std::vector<bool> needed_;
};

}  // namespace

Result<std::vector<const ::onnx::NodeProto*>> sorted_nodes(const NodeList& nodes,
                                                           const std::vector<std::string>& outputs,
                                                           const Scope& known) {
  return Order(nodes, known).run(outputs);
}

}  // namespace attune::onnx
