// Artifacts that are run in turns in one process, each with inputs and memory of its own, all on
// the same pinned threads: the ground of every comparison between whole models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/model/load/input_files.h"

namespace attune::whole_model {

struct Contestant {
  model::RunnableModel model;
  model::ModelSession session;
  std::vector<runtime::Tensor> inputs;

  Status run(runtime::Profile* profile = nullptr) { return session.run(inputs, profile); }
};

// A time that is counted is the same in every run; then more runs tell nothing new.
class Repeats {
 public:
  void add(double us) {
    exact_ = exact_ && (runs_ == 0 || us == first_us_);
    if (runs_++ == 0) first_us_ = us;
  }
  bool exact() const { return exact_ && runs_ >= kEnough; }

 private:
  static constexpr int kEnough = 4;
  int runs_ = 0;
  double first_us_ = 0;
  bool exact_ = true;
};

// What a model reads wherever it is run whole while it is tuned; without a contest it never is.
Result<model::ReadInputs> contest_inputs(const model::LoadedModel& model,
                                         const std::vector<model::NamedFile>& files);

// To be called in the process that runs them: its thread is bound to a core from then on. All
// models are made for the same number of threads.
Result<std::vector<Contestant>> side_by_side(std::vector<model::RunnableModel> models,
                                             const model::ReadInputs& inputs);
Result<std::vector<Contestant>> load_side_by_side(const std::vector<std::string>& artifacts,
                                                  const model::ReadInputs& inputs);

}  // namespace attune::whole_model
