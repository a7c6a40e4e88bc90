// Matrix products of one input with several constant matrices, as attention has them for queries,
// keys and values, become one product with the matrices side by side; slices of its result take
// their places. Only where the slices cost nothing: each result is moved anyway.
#include <algorithm>
#include <map>

#include "compiler/graph/constants.h"
#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

// A product, the sum with a constant row behind it if there is one, and what both give.
struct Product {
  int node;
  ConstantPtr weight;
  ConstantPtr bias;  // [n], or null
  ValueId result;
};

// The constant row that is added to a product.
ConstantPtr row_of(const Rewriter& rewriter, const Node& sum, ValueId product) {
  const auto addend = other_operand(sum, product);
  const ConstantPtr row = addend ? rewriter.constant_of(*addend) : nullptr;
  const std::int64_t width = rewriter.shape(product).back();
  if (row == nullptr || row->type.elements() != width || row->type.rank() == 0 ||
      row->type.shape.back() != width || row->type.rank() > rewriter.type(product).rank()) {
    return nullptr;
  }
  return reshape_constant(row, {width});
}

// Whether the one reader of a value copies it to another order, perhaps behind a reshape.
bool is_moved(const Rewriter& rewriter, ValueId id) {
  for (int step = 0; step < 3 && rewriter.has_one_use(id); ++step) {
    const Node& reader = rewriter.node(rewriter.users(id).front());
    if (reader.op == "transpose") return true;
    if (reader.op != "reshape") return false;
    id = reader.outputs[0];
  }
  return false;
}

std::optional<Product> product_of(const Rewriter& rewriter, int n) {
  const Node& node = rewriter.node(n);
  if (node.op != "matmul" || !node.attributes.empty() || node.inputs.size() != 2) {
    return std::nullopt;
  }
  const ConstantPtr weight = rewriter.constant_of(node.inputs[1]);
  if (weight == nullptr || weight->type.rank() != 2 || rewriter.type(node.inputs[0]).rank() < 2 ||
      rewriter.constant_of(node.inputs[0]) != nullptr || !rewriter.has_one_use(node.outputs[0])) {
    return std::nullopt;
  }
  Product product{n, weight, nullptr, node.outputs[0]};
  const Node& reader = rewriter.node(rewriter.users(node.outputs[0]).front());
  if (reader.op == "add") {
    product.bias = row_of(rewriter, reader, node.outputs[0]);
    if (product.bias == nullptr) return std::nullopt;
    product.result = reader.outputs[0];
  }
  if (!is_moved(rewriter, product.result)) return std::nullopt;
  return product;
}

// Products that read the same input, of matrices of one type, all with a row to add or none.
using Key = std::tuple<ValueId, std::int64_t, bool>;

void combine(Rewriter& rewriter, const std::vector<Product>& products) {
  const Node& first = rewriter.node(products.front().node);
  std::vector<ConstantPtr> weights, biases;
  for (const Product& product : products) {
    weights.push_back(product.weight);
    if (product.bias != nullptr) biases.push_back(product.bias);
  }
  const ValueId weight =
      rewriter.add_constant(concat_constants(weights, 1), first.name + ".weight");
  ValueId all = rewriter.add("matmul", {first.inputs[0], weight}, {}, first.name);
  if (!biases.empty()) {
    const ValueId bias = rewriter.add_constant(concat_constants(biases, 0), first.name + ".bias");
    all = rewriter.add("add", {all, bias}, {}, first.name);
  }
  std::int64_t start = 0;
  for (const Product& product : products) {
    Shape shape = rewriter.shape(product.result);
    Shape starts(shape.size(), 0), steps(shape.size(), 1);
    starts.back() = start;
    start += shape.back();
    const ValueId part = rewriter.add(
        "slice", {all}, {{"starts", starts}, {"steps", steps}, {"shape", shape}}, first.name);
    rewriter.replace(product.result, part);
  }
}

}  // namespace

Result<Graph> combine_products(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  if (!has_operators({"matmul", "slice"})) return graph;
  std::map<Key, std::vector<Product>> groups;
  for (int n = 0; n < rewriter.node_count(); ++n) {
    if (!rewriter.alive(n)) continue;
    if (auto product = product_of(rewriter, n)) {
      const Key key{rewriter.node(n).inputs[0], product->weight->type.dtype.bits,
                    product->bias != nullptr};
      groups[key].push_back(std::move(*product));
    }
  }
  for (const auto& [key, products] : groups) {
    if (products.size() > 1) combine(rewriter, products);
  }
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
