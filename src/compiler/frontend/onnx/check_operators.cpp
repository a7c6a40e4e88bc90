// Finds everything in a model that no converter knows, before anything is built.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/scope.h"

namespace attune::onnx {
namespace {

bool is_word_of(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = words.find(' ');
    if (words.substr(0, end) == word) return true;
    if (end == std::string_view::npos) break;
    words.remove_prefix(end + 1);
  }
  return false;
}

struct Finding {
  int count = 0;
  std::vector<std::string> names;  // of the first nodes
};

class Scan {
 public:
  explicit Scan(const Model& model) : model_(model) {}

  void nodes(const NodeList& list) {
    for (const auto& node : list) visit(node);
  }

  Status result() const {
    if (findings_.empty()) return {};
    std::vector<std::string> texts;
    int count = 0;
    for (const auto& [what, finding] : findings_) {
      count += finding.count;
      texts.push_back(fmt::format(
          "{} ({}{})", what, fmt::join(finding.names, ", "),
          finding.count > 2 ? fmt::format(" and {} more", finding.count - 2) : std::string()));
    }
    return unsupported(fmt::format("{} node{} of the model {} not supported: {}", count,
                                   count == 1 ? "" : "s", count == 1 ? "is" : "are",
                                   fmt::join(texts, "; ")));
  }

 private:
  void visit(const ::onnx::NodeProto& node) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) nodes(attribute.g().node());
      for (const auto& graph : attribute.graphs()) nodes(graph.node());
    }
    if (const auto* function = model_.find_function(node)) {
      if (seen_.insert(function).second) nodes(function->node());
      return;
    }
    const std::string_view domain = domain_of(node.domain());
    const std::string op =
        domain.empty() ? node.op_type() : fmt::format("{}:{}", domain, node.op_type());
    const Converter* converter = find_converter(domain, node.op_type());
    if (converter == nullptr) return add(op, node);
    for (const auto& attribute : node.attribute()) {
      const std::string& name = attribute.name();
      if (is_word_of(converter->attributes, name) || name == "consumed_inputs") continue;
      add(fmt::format("attribute '{}' of {}", name, op), node);
    }
  }

  void add(std::string what, const ::onnx::NodeProto& node) {
    Finding& finding = findings_[std::move(what)];
    ++finding.count;
    if (finding.names.size() >= 2) return;
    const std::string name =
        !node.name().empty() || node.output().empty() ? node.name() : node.output(0);
    finding.names.push_back(fmt::format("'{}'", name));
  }

  const Model& model_;
  std::map<std::string, Finding> findings_;
  std::set<const ::onnx::FunctionProto*> seen_;  // looked up, never walked
};

}  // namespace

Status check_operators(const Model& model) {
  Scan scan(model);
  scan.nodes(model.file.proto().graph().node());
  return scan.result();
}

}  // namespace attune::onnx
