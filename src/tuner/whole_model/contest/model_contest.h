// The artifacts of one model that compete, whole against whole: the untuned one, the one that
// compiling with what was known makes, and tuned ones. Kernels that are faster by themselves need
// not be so inside the model, hence the race decides; its winner becomes the output, and stays in
// the race should there be another.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/temporary_file.h"
#include "compiler/model/compile.h"
#include "compiler/model/fallback.h"
#include "compiler/model/load/input_files.h"
#include "tuner/whole_model/report/tune_report.h"

namespace attune::whole_model {

class ModelTeller;
class ModelVariants;
class TuningResources;
struct RaceOptions;

inline constexpr double kOverlapSeconds = 3;    // of choosing how launches overlap
inline constexpr double kVariantSeconds = 0.6;  // of timing one artifact kernel by kernel

class ModelContest {
 public:
  // Files are written beside `output`, models run on `inputs`. All must outlive it.
  ModelContest(const model::ModelTasks& tasks, model::CompileOptions compile, std::string output,
               const model::ReadInputs& inputs, TuningResources& resources, ModelTeller& teller);

  // On the calling thread, once. Says how long compiling takes.
  Status write_untuned();
  bool has_untuned() const { return untuned_written_; }

  // What the distinct tasks would be compiled with, were there no tuning.
  void set_known(std::vector<model::Schedule> schedules);
  // Whether the artifact that has those is still to be compiled: some task would be compiled other
  // than untuned.
  bool is_known_due() const { return known_differs_ && !best_; }

  // Where tuning begins: untuned against known.
  Status race_known();
  // With schedules of each distinct task, the best by itself first, which promise so much of the
  // untuned time. As many artifacts as
  // `affordable` says are timed kernel by kernel to choose among them; none when that is below 2.
  Status race_tuned(std::vector<std::vector<model::Schedule>> schedules, double promised,
                    const std::function<std::size_t()>& affordable);
  // The fastest becomes the output, signed if `sign` is given; what the report says of it.
  Status deliver(TuneReport& report, const runtime::SignBytes& sign = {});

  // Of the last race.
  double untuned_ms() const { return untuned_ms_; }
  double best_ms() const;

  double compile_seconds() const { return compile_seconds_.load(); }  // of the whole model
  double device_seconds() const { return device_seconds_; }           // of racing
  double inside_seconds() const { return inside_seconds_; }           // of choosing inside
  // What choosing how launches overlap takes, where the device leaves a choice.
  double overlap_seconds() const;

 private:
  struct Entry {
    std::string path;
    Kept kind = Kept::Tuned;
    model::Fallbacks fallbacks = {};
    std::int64_t changed_inside = 0;
    double latency_ms = 0;
  };
  Status compile_stage(const std::function<Status()>& work);
  Status device_stage(const char* kind, const std::function<Status()>& work);
  std::vector<model::Schedule> untuned_schedules() const;
  Status keep_known();
  Status overlap_launches();
  std::int64_t choose_inside(ModelVariants& variants, std::size_t count);
  Status race_all(std::vector<Entry> entries, const RaceOptions& options);
  Status keep(Entry entry);

  const model::ModelTasks& tasks_;
  model::CompileOptions compile_;
  std::string output_;
  const model::ReadInputs& inputs_;
  TuningResources& resources_;
  ModelTeller& teller_;
  std::int64_t start_ns_;  // of tuning
  TemporaryFile untuned_, kept_;
  model::Fallbacks untuned_fallbacks_;
  bool untuned_written_ = false;
  std::vector<model::Schedule> known_;
  bool known_differs_ = false;
  std::optional<Entry> best_;  // in `kept_`
  double untuned_ms_ = 0;
  bool untuned_wins_ = true;  // the last race
  std::optional<double> known_ms_;
  std::string inside_failure_;
  std::atomic<double> compile_seconds_ = 0;
  double device_seconds_ = 0, inside_seconds_ = 0;
};

}  // namespace attune::whole_model
