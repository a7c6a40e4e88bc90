// Sums of products by labels. Two operands that make a matrix product become one.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/product.h"

namespace attune::onnx {
namespace {

struct Labels {
  std::vector<std::string> operands;
  std::string result;

  std::string text() const { return fmt::format("{}->{}", fmt::join(operands, ","), result); }
};

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

// "..." becomes labels of its own, '0', '1', …, counted from the last dimension.
Result<std::string> without_ellipsis(const std::string& labels, std::size_t rank,
                                     std::size_t& most) {
  const std::size_t dots = labels.find("...");
  if (dots == std::string::npos) return labels;
  const std::size_t named = labels.size() - 3;
  if (rank < named || rank - named > 10) {
    return invalid(fmt::format("'{}' does not fit an operand of {} dimensions", labels, rank));
  }
  const std::size_t count = rank - named;
  most = std::max(most, count);
  std::string names;
  for (std::size_t i = count; i-- > 0;) names += static_cast<char>('0' + i);
  return labels.substr(0, dots) + names + labels.substr(dots + 3);
}

// Without "->": the labels that occur once, in alphabetical order, behind those of "...".
std::string implicit_result(const std::vector<std::string>& operands, std::size_t dots) {
  std::string all, once;
  for (const std::string& labels : operands) all += labels;
  for (std::size_t i = dots; i-- > 0;) once += static_cast<char>('0' + i);
  std::sort(all.begin(), all.end());
  for (const char label : all) {
    if (label < 'A' || std::count(all.begin(), all.end(), label) != 1) continue;
    once += label;
  }
  return once;
}

Result<Labels> parse(NodeContext& node, std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const std::size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  std::vector<std::string> written{""};
  for (const char c : left) {
    if (c == ',') {
      written.emplace_back();
    } else if (c == '.' || std::isalpha(static_cast<unsigned char>(c)) != 0) {
      written.back() += c;
    } else {
      return invalid(fmt::format("equation '{}' has the character '{}'", text, c));
    }
  }
  if (written.size() != node.input_count()) {
    return invalid(fmt::format("equation '{}' is of {} operands, there are {}", text,
                               written.size(), node.input_count()));
  }
  Labels labels;
  std::size_t dots = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto rank = static_cast<std::size_t>(node.rank(node.input(i)));
    ATTUNE_ASSIGN(std::string expanded, without_ellipsis(written[i], rank, dots));
    if (expanded.size() != rank) {
      return invalid(
          fmt::format("'{}' does not fit an operand of {} dimensions", written[i], rank));
    }
    labels.operands.push_back(std::move(expanded));
  }
  if (arrow == std::string::npos) {
    labels.result = implicit_result(labels.operands, dots);
    return labels;
  }
  const std::string right = text.substr(arrow + 2);
  const std::size_t own = right.find("...") == std::string::npos ? 0 : right.size() - 3;
  std::size_t unused = 0;
  ATTUNE_ASSIGN(labels.result, without_ellipsis(right, own + dots, unused));
  return labels;
}

// The labels of a matrix product [batch, m, k] x [batch, k, n].
struct Matrices {
  std::string batch, rows, columns, summed;
};

bool unique(const std::string& labels) {
  std::string sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

// Nothing where it is no plain matrix product.
std::optional<Matrices> as_matrices(NodeContext& node, const Labels& labels) {
  if (labels.operands.size() != 2) return std::nullopt;
  const std::string& a = labels.operands[0];
  const std::string& b = labels.operands[1];
  if (!unique(a) || !unique(b) || !unique(labels.result)) return std::nullopt;
  Matrices result;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const std::size_t other = b.find(a[d]);
    const bool kept = has(labels.result, a[d]);
    if (other != std::string::npos &&
        node.shape(node.input(0))[d] != node.shape(node.input(1))[other]) {
      return std::nullopt;
    }
    if (other == std::string::npos && !kept) return std::nullopt;
    (other == std::string::npos ? result.rows : kept ? result.batch : result.summed) += a[d];
  }
  for (const char label : b) {
    if (has(a, label)) continue;
    if (!has(labels.result, label)) return std::nullopt;
    result.columns += label;
  }
  if (result.summed.empty()) return std::nullopt;
  const std::size_t total = result.batch.size() + result.rows.size() + result.columns.size();
  return total == labels.result.size() ? std::optional(result) : std::nullopt;
}

Result<ValueId> ordered(NodeContext& node, ValueId value, const std::string& from,
                        const std::string& to) {
  if (from == to) return value;
  std::vector<std::int64_t> perm;
  for (const char label : to) perm.push_back(static_cast<std::int64_t>(from.find(label)));
  return node.add("transpose", {value}, {{"perm", perm}});
}

Result<ValueId> matrix_product(NodeContext& node, const Labels& labels, const Matrices& m) {
  std::map<char, std::int64_t> extents;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t d = 0; d < labels.operands[i].size(); ++d) {
      extents[labels.operands[i][d]] = node.shape(node.input(i))[d];
    }
  }
  const auto count = [&](const std::string& of) {
    return std::accumulate(of.begin(), of.end(), std::int64_t{1},
                           [&](std::int64_t total, char label) { return total * extents[label]; });
  };
  const auto shape = [&](const std::string& middle, const std::string& last) {
    std::vector<std::int64_t> result;
    for (const char label : m.batch) result.push_back(extents[label]);
    result.push_back(count(middle));
    result.push_back(count(last));
    return result;
  };
  ATTUNE_ASSIGN(ValueId a,
                ordered(node, node.input(0), labels.operands[0], m.batch + m.rows + m.summed));
  ATTUNE_ASSIGN(ValueId b,
                ordered(node, node.input(1), labels.operands[1], m.batch + m.summed + m.columns));
  ATTUNE_ASSIGN(a, node.reshape(a, shape(m.rows, m.summed)));
  ATTUNE_ASSIGN(b, node.reshape(b, shape(m.summed, m.columns)));
  ATTUNE_ASSIGN(ValueId y, product(node, a, b));
  const std::string order = m.batch + m.rows + m.columns;
  std::vector<std::int64_t> full;
  for (const char label : order) full.push_back(extents[label]);
  ATTUNE_ASSIGN(y, node.reshape(y, std::move(full)));
  return ordered(node, y, order, labels.result);
}

}  // namespace

Converted convert_einsum(NodeContext& node) {
  ATTUNE_ASSIGN(const Labels labels, parse(node, node.word("equation", "")));
  if (const auto matrices = as_matrices(node, labels)) {
    return one(matrix_product(node, labels, *matrices));
  }
  return one(node.add("einsum", node.inputs(), {{"equation", labels.text()}}));
}

}  // namespace attune::onnx
