// The event log of a tuning run: one JSON object per line, appended to a file, for programs that
// follow a run or draw its course afterwards. A line is written as soon as it is known, whole, so
// that a run that is killed loses at most the event it was about to write.
// docs/howto/follow_a_run.md lists the events.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "tuner/whole_model/tune.h"

namespace attune::whole_model {

class TuneLog {
 public:
  // Appends to the file; an empty path makes a log that is written nowhere.
  static Result<TuneLog> open(const std::string& path);
  TuneLog(TuneLog&& other) noexcept;
  TuneLog& operator=(TuneLog&&) = delete;
  ~TuneLog();

  void began(const model::ModelOptions& model, const TuneOptions& options);
  void progressed(const TuneProgress& progress);
  void ended(const Result<TuneReport>& report, double seconds);
  // What went wrong first while writing: tuning goes on without its log.
  const Status& status() const { return status_; }

 private:
  explicit TuneLog(int descriptor) : descriptor_(descriptor) {}
  void write(const std::string& line);
  void tell_tasks(const TuneProgress& progress);

  // What was last told of a task.
  struct Told {
    double best_us = 0;  // 0: nothing
    bool settled = false;
  };
  int descriptor_ = -1;
  Status status_;
  std::map<std::string, Told> told_;  // by key
  bool closing_ = false;
};

// Does the work with a log of it beside `progressed`, when the options name one. A log that could
// not be written to its end is said in the report.
Result<TuneReport> with_log(const model::ModelOptions& model, const TuneOptions& options,
                            const Progressed& progressed,
                            const std::function<Result<TuneReport>(const Progressed&)>& work);

}  // namespace attune::whole_model
