// A client of the scheduler: submits jobs, asks about them, says what is to become of them. It
// finds the scheduler through its state directory, and again when it was started anew meanwhile. A
// scheduler of another user knows this one's jobs by the connection; files go through it then.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/client/overview.h"

namespace attune::client {

struct ClientOptions {
  std::string state = {};  // the directory, absolute
  // For how long to look for a scheduler that does not answer, and what to do when that begins.
  double patience_seconds = 10;
  std::function<void()> waiting = {};
  // For how long a scheduler that takes connections may say nothing before it is given up: a third
  // of it where it could answer without its disk.
  double answer_seconds = 30;
  const std::atomic<bool>* stop = nullptr;  // ends a watch
};

// A file to send: under this name, which is relative.
struct SentFile {
  std::string name = {};
  std::string path = {};
};

// Takes the next bytes of a file that is fetched.
using TakePart = std::function<Status(const std::string& file, std::string_view bytes)>;

class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The same key again is the same job, so that a call which was cut off may be repeated. A job
  // whose result is known has ended.
  Result<Submitted> submit(const JobRequest& request, const std::string& key,
                           const KnownResult& known = {});
  // All jobs, or the one with this id or name.
  Result<Overview> list(const std::string& job, bool with_bars);
  Result<JobStatus> control(const std::string& job, Wish wish);
  // Has jobs forgotten that ended so long ago, or says which they would be.
  Result<std::vector<JobStatus>> prune(double older_than_seconds, bool dry_run);

  // Whether the scheduler runs as this very user, and so may open the user's files by their paths.
  Result<bool> is_own_scheduler();
  // What JobRequest::files names.
  Result<std::string> upload(const std::vector<SentFile>& files);
  // What an ended job made, file after file.
  Status fetch(const std::string& job, const TakePart& take);
  // For the hello of a worker, or of a tuner that brings jobs of this user.
  Result<std::string> token(bool worker);

  // The state now, whenever it changed, and after every `tick_seconds` without a change (0: never),
  // until `show` returns false or `stop` is set. Changes that come faster than they are shown are
  // left out.
  Status watch(const std::string& job, double tick_seconds,
               const std::function<bool(const Overview&)>& show);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace attune::client
