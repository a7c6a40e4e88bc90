// Damages cases of ONNX's backend tests at random and imports them: whatever comes of it, an import
// ends with a graph or an error. Bytes of the file are changed, or the parts of the model: numbers,
// names, types and shapes. The model under test is written to SCRATCH first, so that one that ends
// the process is known.
//
// usage: onnx_mutations COUNT SEED SCRATCH CASE-FOLDER...
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/proto/onnx.pb.h"
#include "compiler/model/ahead.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  int index(int size) { return static_cast<int>(below(static_cast<std::size_t>(size))); }
  bool flip() { return below(2) == 0; }

  std::string bytes(std::string text) {
    const std::size_t edits = 1 + below(3);
    for (std::size_t i = 0; i < edits && !text.empty(); ++i) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = static_cast<char>(random_());
          break;
        case 1:
          text.erase(at, 1 + below(8));
          break;
        case 2:
          text.insert(at, text.substr(below(text.size()), 1 + below(64)));
          break;
        default:
          text[at] = static_cast<char>(text[at] + (flip() ? 1 : -1));
      }
    }
    return text;
  }

  void model(::onnx::ModelProto& model) {
    ::onnx::GraphProto& graph = *model.mutable_graph();
    const std::size_t edits = below(3);
    for (std::size_t i = 0; i < edits; ++i) {
      if (graph.node_size() > 0 && below(4) != 0) {
        node(graph, *graph.mutable_node(index(graph.node_size())));
      } else if (graph.input_size() > 0 && flip()) {
        type(*graph.mutable_input(index(graph.input_size())));
      } else if (graph.initializer_size() > 0) {
        dims(*graph.mutable_initializer(index(graph.initializer_size()))->mutable_dims());
      } else if (model.opset_import_size() > 0) {
        model.mutable_opset_import(0)->set_version(1 + index(27));
      }
    }
  }

  // Another value of the same type, or of another shape.
  ops::ConstantPtr constant(const ops::Constant& original) {
    ir::Array array = ops::to_array(original);
    if (array.count() > 0 && flip()) {
      array.set_int(static_cast<std::int64_t>(below(static_cast<std::size_t>(array.count()))),
                    number());
    }
    if (below(4) == 0 && !array.shape.empty()) {
      std::int64_t& extent = array.shape[below(array.shape.size())];
      extent = static_cast<std::int64_t>(below(5));
      array = ir::Array(array.type, array.shape);
    }
    if (below(6) == 0) array = ir::Array(array.type, flip() ? shape(index(5)) : array.shape);
    return ops::make_constant(std::move(array));
  }

 private:
  std::int64_t number() {
    constexpr std::int64_t kNumbers[] = {0,
                                         1,
                                         2,
                                         3,
                                         4,
                                         5,
                                         7,
                                         -1,
                                         -2,
                                         -3,
                                         -7,
                                         1000,
                                         4096,
                                         1 << 20,
                                         1L << 40,
                                         -(1L << 40),
                                         std::numeric_limits<std::int64_t>::max(),
                                         std::numeric_limits<std::int64_t>::min()};
    return kNumbers[below(std::size(kNumbers))];
  }
  std::vector<std::int64_t> shape(int rank) {
    std::vector<std::int64_t> result;
    for (int d = 0; d < rank; ++d) result.push_back(index(4));
    return result;
  }

  template <typename List>
  void dims(List& list) {
    if (list.empty() || below(3) == 0) {
      list.Add(number());
    } else if (flip()) {
      list.Set(index(list.size()), number());
    } else {
      list.RemoveLast();
    }
  }

  void type(::onnx::ValueInfoProto& info) {
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    if (below(3) == 0) tensor.set_elem_type(1 + index(16));
    if (flip()) tensor.mutable_shape()->add_dim()->set_dim_value(number());
  }

  void node(::onnx::GraphProto& graph, ::onnx::NodeProto& node) {
    if (node.attribute_size() > 0 && flip()) {
      return attribute(*node.mutable_attribute(index(node.attribute_size())));
    }
    switch (below(4)) {
      case 0:
        if (node.input_size() > 0) node.mutable_input()->RemoveLast();
        break;
      case 1:
        if (node.input_size() > 0) node.set_input(index(node.input_size()), name(graph));
        break;
      case 2:
        node.add_input(name(graph));
        break;
      default:
        node.set_op_type(graph.node(index(graph.node_size())).op_type());
    }
  }

  std::string name(const ::onnx::GraphProto& graph) {
    if (graph.input_size() > 0 && flip()) return graph.input(index(graph.input_size())).name();
    const auto& other = graph.node(index(graph.node_size()));
    return other.output_size() > 0 && flip() ? other.output(0) : "";
  }

  void attribute(::onnx::AttributeProto& attribute) {
    if (attribute.has_i()) attribute.set_i(number());
    if (attribute.has_f()) attribute.set_f(flip() ? static_cast<float>(number()) : 0.0F);
    if (attribute.has_s()) attribute.set_s(flip() ? "" : bytes(attribute.s()));
    if (attribute.ints_size() > 0) dims(*attribute.mutable_ints());
    if (attribute.has_g() && attribute.g().node_size() > 0) {
      ::onnx::GraphProto& graph = *attribute.mutable_g();
      node(graph, *graph.mutable_node(index(graph.node_size())));
    }
  }

  std::mt19937_64 random_;
};

struct Case {
  std::string bytes;
  std::vector<ops::ConstantPtr> inputs;
};

Case read_case(const fs::path& folder) {
  std::ifstream file(folder / "model.onnx", std::ios::binary);
  Case result{{std::istreambuf_iterator<char>(file), {}}, {}};
  for (int i = 0; i < 16; ++i) {
    const auto tensor = onnx_proto::read_tensor(
        (folder / "test_data_set_0" / fmt::format("input_{}.pb", i)).string());
    if (!tensor.ok()) break;
    const auto constant = onnx::constant_of(*tensor);
    result.inputs.push_back(constant.ok() ? *constant : nullptr);
  }
  return result;
}

std::string import_once(Mutator& mutator, const Case& original, const std::string& scratch) {
  const bool by_bytes = mutator.below(4) == 0;
  ::onnx::ModelProto proto;
  proto.ParseFromString(original.bytes);
  mutator.model(proto);
  onnx::ImportOptions options;
  options.folding.run_host = model::run_host_on_constants;
  for (int i = 0; !by_bytes && i < proto.graph().input_size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (at >= original.inputs.size() || original.inputs[at] == nullptr) continue;
    auto& input = *proto.mutable_graph()->mutable_input(i);
    const auto constant = mutator.constant(*original.inputs[at]);
    if (mutator.flip()) input.mutable_type()->mutable_tensor_type()->clear_shape();
    if (mutator.below(4) != 0) {
      options.constants[input.name()] = constant;
    } else {
      options.shapes[input.name()] = constant->type.shape;
    }
  }
  {
    std::ofstream file(scratch, std::ios::binary | std::ios::trunc);
    file << (by_bytes ? mutator.bytes(original.bytes) : proto.SerializeAsString());
  }
  const auto model = onnx_proto::read_model(scratch);
  if (!model.ok()) return "not read";
  const auto graph = onnx::import_model(*model, options);
  return graph.ok() ? "imported" : "refused";
}

int run(int count, char** arguments) {
  if (count < 5) return 2;
  Mutator mutator(std::stoull(arguments[2]));
  std::vector<Case> cases;
  for (int i = 4; i < count; ++i) cases.push_back(read_case(arguments[i]));
  std::map<std::string, int> outcomes;
  for (int i = 0; i < std::stoi(arguments[1]); ++i) {
    ++outcomes[import_once(mutator, cases[mutator.below(cases.size())], arguments[3])];
  }
  for (const auto& [outcome, number] : outcomes) fmt::print("{} {}\n", outcome, number);
  return 0;
}

}  // namespace
}  // namespace attune

int main(int count, char** arguments) { return attune::run(count, arguments); }
