// The report of a job as another user's tuner wrote it, where somebody looks at the job.
#include "app/verbs/jobs/jobs.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_job_report(std::string_view bytes) {
  client::JobStatus job{.id = "j1", .state = client::JobState::Done};
  job.result_json = bytes;
  job.request.name = bytes.substr(0, 40);
  (void)verbs::to_json(job);
  (void)verbs::to_json(client::Overview{.jobs = {job}}, true, verbs::JsonForm::Line);
}

}  // namespace attune::fuzz
