#include "tuner/cost_model/tree_gru_pass.h"

#include <Eigen/Core>
#include <algorithm>

namespace attune::cost_model {
namespace {

using Matrix = Eigen::MatrixXf;
using ConstMap = Eigen::Map<const Matrix>;
using Map = Eigen::Map<Matrix>;
using Eigen::Index;

constexpr std::size_t D = kTreeGruState, M = kTreeGruSlots;

// Where each parameter lies: embedding, gates by the input (update, reset, candidate), gates by the
// state inside, candidate by the state inside, scattering, head.
struct Offsets {
  std::size_t embed, embed_bias, input, input_bias, state, candidate, scatter, scatter_bias, head,
      head_bias, end;
  explicit Offsets(std::size_t width) {
    embed = 0;
    embed_bias = embed + D * width;
    input = embed_bias + D;
    input_bias = input + 3 * D * D;
    state = input_bias + 3 * D;
    candidate = state + 2 * D * D;
    scatter = candidate + D * D;
    scatter_bias = scatter + M * D;
    head = scatter_bias + M;
    head_bias = head + M * D;
    end = head_bias + 1;
  }
};

// The parameters as matrices; also their derivatives, with another pointer.
template <typename Mapped, typename Float>
struct Weights {
  Mapped embed, embed_bias, input, input_bias, state, candidate, scatter, scatter_bias, head,
      head_bias;
  Weights(Float* p, Index w, const Offsets& at)
      : embed(p + at.embed, D, w),
        embed_bias(p + at.embed_bias, D, 1),
        input(p + at.input, 3 * D, D),
        input_bias(p + at.input_bias, 3 * D, 1),
        state(p + at.state, 2 * D, D),
        candidate(p + at.candidate, D, D),
        scatter(p + at.scatter, M, D),
        scatter_bias(p + at.scatter_bias, M, 1),
        head(p + at.head, M, D),
        head_bias(p + at.head_bias, 1, 1) {}
};

template <typename Expression>
Matrix sigmoid(const Expression& x) {
  return (0.5f * (0.5f * x.array()).tanh() + 0.5f).matrix();
}

std::vector<int> heights_of(const features::LoopTree& tree) {
  std::vector<int> heights(tree.size(), 0);
  for (std::size_t n = tree.size(); n-- > 1;) {
    int& above = heights[static_cast<std::size_t>(tree.parent[n])];
    above = std::max(above, heights[n] + 1);
  }
  return heights;
}

}  // namespace

std::size_t tree_gru_parameters(std::size_t width) { return Offsets(width).end; }

std::vector<TreeGruWeights> tree_gru_weights(std::size_t width) {
  const Offsets at(width);
  return {{at.embed, D, width}, {at.input, 3 * D, D}, {at.state, 2 * D, D},
          {at.candidate, D, D}, {at.scatter, M, D},   {at.head, M, D}};
}

struct TreeGruPass::State {
  Index width = 0, nodes = 0;
  std::size_t trees = 0;
  std::vector<Index> levels;  // the first node of each height, and the number of nodes
  std::vector<Index> parent;  // of each node; -1: none
  std::vector<std::size_t> tree;
  Matrix x, embedded, gates, inside, reset_inside, out;  // columns are nodes
  Matrix shares, votes;                                  // of the slots
};

TreeGruPass::TreeGruPass(std::span<const features::LoopTree* const> trees,
                         std::span<const float> mean, std::span<const float> scale)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.width = static_cast<Index>(mean.size());
  s.trees = trees.size();
  std::vector<std::vector<int>> heights;
  std::vector<Index> counts;
  for (const features::LoopTree* tree : trees) {
    heights.push_back(heights_of(*tree));
    for (int height : heights.back()) {
      if (counts.size() <= static_cast<std::size_t>(height)) {
        counts.resize(static_cast<std::size_t>(height) + 1);
      }
      ++counts[static_cast<std::size_t>(height)];
    }
  }
  s.levels.push_back(0);
  for (Index count : counts) s.levels.push_back(s.levels.back() + count);
  s.nodes = s.levels.back();
  s.x.resize(s.width, s.nodes);
  s.parent.resize(static_cast<std::size_t>(s.nodes));
  s.tree.resize(static_cast<std::size_t>(s.nodes));
  std::vector<Index> next(s.levels.begin(), s.levels.end() - 1);
  std::vector<Index> places;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const features::LoopTree& tree = *trees[t];
    places.clear();
    for (std::size_t n = 0; n < tree.size(); ++n) {
      const Index place = next[static_cast<std::size_t>(heights[t][n])]++;
      places.push_back(place);
      s.tree[static_cast<std::size_t>(place)] = t;
      s.parent[static_cast<std::size_t>(place)] =
          n == 0 ? -1 : places[static_cast<std::size_t>(tree.parent[n])];
      for (std::size_t i = 0; i < mean.size(); ++i) {
        s.x(static_cast<Index>(i), place) =
            (tree.context[n * mean.size() + i] - mean[i]) * scale[i];
      }
    }
  }
}

TreeGruPass::~TreeGruPass() = default;

std::vector<float> TreeGruPass::forward(const std::vector<float>& parameters) {
  State& s = *state_;
  const Weights<ConstMap, const float> w(parameters.data(), s.width,
                                         Offsets(static_cast<std::size_t>(s.width)));
  constexpr auto d = static_cast<Index>(D);
  s.embedded = ((w.embed * s.x).colwise() + w.embed_bias.col(0)).array().tanh();
  s.gates = (w.input * s.embedded).colwise() + w.input_bias.col(0);
  s.inside = Matrix::Zero(d, s.nodes);
  s.reset_inside.resize(d, s.nodes);
  s.out.resize(d, s.nodes);
  for (std::size_t level = 0; level + 1 < s.levels.size(); ++level) {
    const Index first = s.levels[level], count = s.levels[level + 1] - first;
    const auto inside = s.inside.middleCols(first, count);
    auto both = s.gates.block(0, first, 2 * d, count);
    auto candidate = s.gates.block(2 * d, first, d, count);
    both = sigmoid(both + w.state * inside);
    s.reset_inside.middleCols(first, count) = both.bottomRows(d).array() * inside.array();
    candidate = (candidate + w.candidate * s.reset_inside.middleCols(first, count)).array().tanh();
    s.out.middleCols(first, count) = both.topRows(d).array() * inside.array() +
                                     (1 - both.topRows(d).array()) * candidate.array();
    for (Index n = first; n < first + count; ++n) {
      const Index parent = s.parent[static_cast<std::size_t>(n)];
      if (parent >= 0) s.inside.col(parent) += s.out.col(n);
    }
  }
  s.shares = (w.scatter * s.out).colwise() + w.scatter_bias.col(0);
  s.shares.rowwise() -= s.shares.colwise().maxCoeff().eval();
  s.shares = s.shares.array().exp();
  s.shares.array().rowwise() /= s.shares.colwise().sum().array().eval();
  s.votes = w.head * s.out;
  std::vector<float> outputs(s.trees, w.head_bias(0, 0));
  for (Index n = 0; n < s.nodes; ++n) {
    outputs[s.tree[static_cast<std::size_t>(n)]] += s.shares.col(n).dot(s.votes.col(n));
  }
  return outputs;
}

void TreeGruPass::backward(const std::vector<float>& parameters, std::span<const float> by_output,
                           std::vector<float>& gradient) {
  const State& s = *state_;
  const Offsets at(static_cast<std::size_t>(s.width));
  const Weights<ConstMap, const float> w(parameters.data(), s.width, at);
  Weights<Map, float> g(gradient.data(), s.width, at);
  constexpr auto d = static_cast<Index>(D);
  Matrix by_vote = s.shares, by_share = s.votes;
  for (Index n = 0; n < s.nodes; ++n) {
    const float by = by_output[s.tree[static_cast<std::size_t>(n)]];
    by_vote.col(n) *= by;
    by_share.col(n) *= by;
  }
  for (float by : by_output) g.head_bias(0, 0) += by;
  const Eigen::RowVectorXf mean_share =
      (by_share.array() * s.shares.array()).colwise().sum().matrix();
  const Matrix by_logit = (s.shares.array() * (by_share.rowwise() - mean_share).array()).matrix();
  g.head += by_vote * s.out.transpose();
  g.scatter += by_logit * s.out.transpose();
  g.scatter_bias += by_logit.rowwise().sum();
  Matrix by_out = w.head.transpose() * by_vote + w.scatter.transpose() * by_logit;
  Matrix by_inside(d, s.nodes), by_gate(3 * d, s.nodes);
  for (std::size_t level = s.levels.size() - 1; level-- > 0;) {
    const Index first = s.levels[level], count = s.levels[level + 1] - first;
    for (Index n = first; n < first + count; ++n) {
      const Index parent = s.parent[static_cast<std::size_t>(n)];
      if (parent >= 0) by_out.col(n) += by_inside.col(parent);
    }
    const auto by = by_out.middleCols(first, count).array();
    const auto inside = s.inside.middleCols(first, count).array();
    const auto update = s.gates.block(0, first, d, count).array();
    const auto reset = s.gates.block(d, first, d, count).array();
    const auto candidate = s.gates.block(2 * d, first, d, count).array();
    by_gate.block(2 * d, first, d, count) =
        (by * (1 - update) * (1 - candidate * candidate)).matrix();
    const Matrix by_reset_inside = w.candidate.transpose() * by_gate.block(2 * d, first, d, count);
    by_gate.block(0, first, d, count) =
        (by * (inside - candidate) * update * (1 - update)).matrix();
    by_gate.block(d, first, d, count) =
        (by_reset_inside.array() * inside * reset * (1 - reset)).matrix();
    by_inside.middleCols(first, count) =
        (by * update + by_reset_inside.array() * reset).matrix() +
        w.state.transpose() * by_gate.block(0, first, 2 * d, count);
  }
  g.state += by_gate.topRows(2 * d) * s.inside.transpose();
  g.candidate += by_gate.bottomRows(d) * s.reset_inside.transpose();
  g.input += by_gate * s.embedded.transpose();
  g.input_bias += by_gate.rowwise().sum();
  const Matrix by_embedded =
      ((w.input.transpose() * by_gate).array() * (1 - s.embedded.array().square())).matrix();
  g.embed += by_embedded * s.x.transpose();
  g.embed_bias += by_embedded.rowwise().sum();
}

}  // namespace attune::cost_model
