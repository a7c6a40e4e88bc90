#include "tuner/cost_model/boosted_trees.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/check.h"

namespace attune::cost_model {
namespace {

// From this many rows on features are sorted into bins instead of row by row.
constexpr std::size_t kManyRows = 1500;

void must(int status) { CHECK(status == 0, XGBGetLastError()); }

struct FreeMatrix {
  void operator()(void* handle) const { XGDMatrixFree(handle); }
};
struct FreeBooster {
  void operator()(void* handle) const { XGBoosterFree(handle); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

// Features that differ between rows at all: most do not within one task.
std::vector<std::uint32_t> varying_columns(const TrainingRows& rows) {
  std::vector<std::uint32_t> columns;
  for (std::size_t c = 0; c < rows.width; ++c) {
    for (std::size_t i = 1; i < rows.labels.size(); ++i) {
      if (rows.features[i * rows.width + c] != rows.features[c]) {
        columns.push_back(static_cast<std::uint32_t>(c));
        break;
      }
    }
  }
  return columns;
}

Matrix make_matrix(const TrainingRows& rows, const std::vector<std::uint32_t>& columns,
                   Objective objective) {
  const std::size_t count = rows.labels.size();
  std::vector<float> dense;
  dense.reserve(count * columns.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint32_t c : columns) dense.push_back(rows.features[i * rows.width + c]);
  }
  DMatrixHandle handle = nullptr;
  must(XGDMatrixCreateFromMat(dense.data(), count, columns.size(),
                              std::numeric_limits<float>::quiet_NaN(), &handle));
  Matrix matrix(handle);
  must(XGDMatrixSetFloatInfo(handle, "label", rows.labels.data(), count));
  if (!rows.margins.empty()) {
    must(XGDMatrixSetFloatInfo(handle, "base_margin", rows.margins.data(), count));
  }
  if (objective == Objective::Rank) {
    std::vector<unsigned> groups(rows.groups.begin(), rows.groups.end());
    if (groups.empty()) groups.push_back(static_cast<unsigned>(count));
    must(XGDMatrixSetUIntInfo(handle, "group", groups.data(), groups.size()));
  }
  return matrix;
}

Booster make_booster(const Matrix& matrix, std::size_t rows, const BoostOptions& options) {
  const DMatrixHandle inputs[] = {matrix.get()};
  BoosterHandle handle = nullptr;
  must(XGBoosterCreate(inputs, 1, &handle));
  Booster booster(handle);
  const auto set = [&](const char* name, const std::string& value) {
    must(XGBoosterSetParam(handle, name, value.c_str()));
  };
  set("objective", options.objective == Objective::Rank ? "rank:pairwise" : "reg:squarederror");
  set("base_score", "0");
  set("nthread", "1");
  set("verbosity", "0");
  set("max_depth", fmt::format("{}", options.depth));
  set("eta", fmt::format("{}", options.eta));
  set("lambda", fmt::format("{}", options.lambda));
  set("min_child_weight", fmt::format("{}", options.min_child_weight));
  set("colsample_bytree", fmt::format("{}", options.column_share));
  set("seed", fmt::format("{}", options.seed % 1000000007));
  set("tree_method", rows < kManyRows ? "exact" : "hist");
  set("max_bin", "64");
  return booster;
}

nlohmann::json dump(const Booster& booster) {
  bst_ulong length = 0;
  const char* text = nullptr;
  must(XGBoosterSaveModelToBuffer(booster.get(), R"({"format": "json"})", &length, &text));
  return nlohmann::json::parse(std::string_view(text, length));
}

// One tree as XGBoost writes it.
struct LooseTree {
  std::vector<int> left, right;
  std::vector<std::uint32_t> feature;
  std::vector<float> value;  // threshold of a split, value of a leaf
};

}  // namespace

BoostedTrees BoostedTrees::train(const TrainingRows& rows, const BoostOptions& options) {
  const std::size_t count = rows.labels.size();
  CHECK(rows.features.size() == count * rows.width, "rows and labels do not match");
  CHECK(options.depth >= 1 && options.depth <= 8, "trees are 1 to 8 levels deep");
  BoostedTrees trees;
  const auto columns = varying_columns(rows);
  if (columns.empty()) return trees;
  const Matrix matrix = make_matrix(rows, columns, options.objective);
  const Booster booster = make_booster(matrix, count, options);
  for (int round = 0; round < options.rounds; ++round) {
    must(XGBoosterUpdateOneIter(booster.get(), round, matrix.get()));
  }
  trees.depth_ = options.depth;
  const std::size_t inner = (std::size_t{1} << options.depth) - 1;
  const nlohmann::json model = dump(booster);
  for (const auto& written : model["learner"]["gradient_booster"]["model"]["trees"]) {
    const LooseTree loose{written["left_children"], written["right_children"],
                          written["split_indices"], written["split_conditions"]};
    // Leaves above the last level go down as splits that do not matter.
    std::vector<std::size_t> source(2 * inner + 1, 0);
    for (std::size_t i = 0; i < inner; ++i) {
      const std::size_t from = source[i];
      const bool leaf = loose.left[from] < 0;
      trees.splits_.push_back(leaf ? Split{columns[0], 0}
                                   : Split{columns[loose.feature[from]], loose.value[from]});
      source[2 * i + 1] = leaf ? from : static_cast<std::size_t>(loose.left[from]);
      source[2 * i + 2] = leaf ? from : static_cast<std::size_t>(loose.right[from]);
    }
    for (std::size_t i = inner; i <= 2 * inner; ++i)
      trees.leaves_.push_back(loose.value[source[i]]);
  }
  return trees;
}

float BoostedTrees::predict(const float* row) const {
  const std::size_t inner = (std::size_t{1} << depth_) - 1;
  const Split* splits = splits_.data();
  float sum = 0;
  for (std::size_t leaves = 0; leaves < leaves_.size(); leaves += inner + 1, splits += inner) {
    std::size_t node = 0;
    for (int level = 0; level < depth_; ++level) {
      const Split split = splits[node];
      node = 2 * node + 1 + static_cast<std::size_t>(!(row[split.feature] < split.threshold));
    }
    sum += leaves_[leaves + node - inner];
  }
  return sum;
}

}  // namespace attune::cost_model
