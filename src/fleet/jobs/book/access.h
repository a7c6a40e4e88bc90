// Who may do what with a scheduler. One table, which is obeyed in every call; whoever adds a call
// adds its line. Who somebody is comes from the connection (a Unix socket: the kernel says which
// user connected; another transport, such as mutual TLS, would say it in the same form), never from
// what is said over it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/wire/jobs.pb.h"

namespace attune::jobs {

struct Caller {
  std::uint32_t uid = 0;
  std::string user = {};  // what the machine calls them
};

// What somebody is, to the scheduler or to the job that it is about.
enum class Standing {
  Scheduler,  // the user as whom the scheduler and its workers run
  Owner,      // whose job it is
  Other,      // anybody else who can connect
  Worker,     // a stream whose hello had a worker's token
  Tuner,      // a stream whose hello had a tuner's token
};
inline constexpr Standing kStandings[] = {Standing::Scheduler, Standing::Owner, Standing::Other,
                                          Standing::Worker, Standing::Tuner};

enum class Right {
  Submit,       // a job of one's own
  NameUser,     // in somebody else's name
  NamePaths,    // have files read and written by their paths, with the scheduler's rights
  Upload,       // send files for a job
  SeeThatItIs,  // a job's number, user, state and place
  SeeDetails,   // all of it
  Control,      // pause, resume, stop, cancel
  Fetch,        // what it made
  Prune,        // have it forgotten, once it has ended
  WorkerToken,  // let a worker take part
  TunerToken,   // let a tuner take part, in one's own name
  TakeJobs,     // be given jobs of all users
  Register,     // bring a job of one's own
};

// One line of the table: a right, in words, and who has it.
struct Rule {
  Right right;
  std::string_view words;
  bool scheduler, owner, other, worker, tuner;
};
std::span<const Rule> rules();

// The least that a call of the service asks for; what more it needs depends on its job. A call that
// has no line here is refused to everybody.
struct CallRule {
  std::string_view call;
  Right right;
};
std::span<const CallRule> call_rules();
// Whether somebody may make a call at all.
Status check_may_call(const Caller& caller, std::uint32_t scheduler, std::string_view call);

bool may(Standing standing, Right right);
// Of a user, to a scheduler of user `scheduler`; a job that is theirs makes them its owner.
Standing standing_of(const Caller& caller, std::uint32_t scheduler);
Standing standing_of(const Caller& caller, const v1::Job& job, std::uint32_t scheduler);

// The name of files that this user has sent: "UID-" and 32 digits.
bool is_upload_of(std::uint32_t uid, const std::string& files);
// Whether a user may have submitted this.
Status check_may_submit(const Caller& caller, std::uint32_t scheduler, const v1::JobSpec& spec);

// What others see of somebody's job.
v1::Job without_details(const v1::Job& job);

}  // namespace attune::jobs
