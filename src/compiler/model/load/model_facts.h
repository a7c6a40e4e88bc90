// How a model is dealt with, where models differ: plain facts that the loader sets, so that nobody
// else needs to ask what it was made of.
#pragma once

#include <cstdint>
#include <optional>

namespace attune::model {

// What tuning takes without a budget: trials of each task, or seconds of the whole.
struct UsualBudget {
  std::optional<std::int64_t> trials = {};
  std::optional<double> seconds = {};
};
inline constexpr std::int64_t kUsualTrials = 128;
inline constexpr double kUsualSeconds = 300;

// What compiling makes unless the name of the output says otherwise: an artifact, or kernels that
// others call.
enum class OutputForm { Artifact, Object };

struct ModelFacts {
  // Tuning ends with artifacts that compete, whole against whole, and writes the fastest. Otherwise
  // the sessions have the last word: the model is never run whole, and what is left is records.
  bool contest = true;
  UsualBudget budget = {.trials = {}, .seconds = kUsualSeconds};
  OutputForm form = OutputForm::Artifact;
  // It is cut into one task, whose name and tolerance are those of the model.
  bool one_task = false;
  // Its time is that of its kernels, and compares with the peak of the machine; otherwise that of a
  // call, with what a model does around its layers.
  bool times_kernels = false;
  // Its constants are random, by seed and by their place among the operands, as measuring fills
  // them: a reference follows from the task alone, at any places of its outputs.
  bool random_constants = false;
  // --shape sets the shapes of its inputs.
  bool takes_shapes = true;
  // Files are given for its operands one by one, for its weights too; otherwise for its inputs
  // alone, also as archives and pictures.
  bool takes_operands = false;
};

}  // namespace attune::model
