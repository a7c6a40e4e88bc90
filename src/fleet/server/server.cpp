#include "fleet/server/server.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "fleet/server/event_loop.h"
#include "fleet/server/local_workers.h"
#include "fleet/server/reports.h"
#include "fleet/server/retention/caretaker.h"
#include "fleet/server/service.h"
#include "fleet/server/state_lock.h"
#include "fleet/server/tokens.h"
#include "fleet/wire/devices.h"
#include "fleet/wire/state_directory.h"

namespace attune::server {
namespace {

constexpr std::int64_t kRecalledStages = 20'000;

jobs::BookOptions book_options(const ServerOptions& options) {
  jobs::BookOptions book{.pools = {{"host", {}}, {wire::kMeasuringCores, {}}},
                         .policy = options.policy,
                         .apart = options.apart,
                         .quotas = options.quotas,
                         .version = options.version,
                         .uid = ::geteuid(),
                         .prefetch = options.prefetch,
                         .in_turn = options.in_turn,
                         .lease_seconds = options.lease_seconds,
                         .beat_seconds = options.beat_seconds,
                         .limits = options.limits,
                         .settle_seconds = options.settle_seconds,
                         .local_workers = options.workers > 0,
                         .cores_kept = options.cores_kept};
  for (const int core : options.host_cores) book.pools[0].units.push_back({core});
  const auto each = static_cast<std::ptrdiff_t>(options.profile_cores.size()) / options.cpu_devices;
  for (auto core = options.profile_cores.begin(); core != options.profile_cores.end();
       core += each) {
    book.pools[1].units.emplace_back(core, core + each);
  }
  for (const auto& [key, count] : options.devices) {
    book.pools.push_back({key, std::vector<std::vector<int>>(static_cast<std::size_t>(count))});
  }
  return book;
}

std::vector<jobs::Pool> pools_of(const jobs::BookOptions& options) {
  std::vector<jobs::Pool> pools;
  for (const jobs::BookPool& pool : options.pools) {
    pools.push_back({pool.name, static_cast<int>(pool.units.size())});
  }
  return pools;
}

using Died = std::function<void(jobs::WorkerId, const jobs::WorkerDeath&)>;

LocalWorkersOptions worker_options(const ServerOptions& options, int lock_descriptor, Died died) {
  LocalWorkersOptions workers{.command = options.worker_command,
                              .count = options.workers,
                              .log_folder = options.state,
                              .lock_descriptor = lock_descriptor,
                              .cores = options.host_cores,
                              .note = options.note,
                              .ended = options.worker_ended,
                              .died = std::move(died)};
  workers.cores.insert(workers.cores.end(), options.profile_cores.begin(),
                       options.profile_cores.end());
  return workers;
}

}  // namespace

// In the order of their making; each may use those above it.
struct Server::Parts final : World {
  explicit Parts(ServerOptions given, StateLock taken)
      : options(std::move(given)),
        lock(std::move(taken)),
        workers(worker_options(options, lock.workers_descriptor(),
                               [this](jobs::WorkerId worker, const jobs::WorkerDeath& death) {
                                 died(worker, death);
                               })),
        service(make_service(
            {.state = options.state,
             .share = options.share,
             .admit = [this](auto worker, const auto& caller,
                             const auto& token) { return admit(worker, caller, token); },
             .tokens = &tokens,
             .add_report =
                 [this](v1::Job& job) {
                   if (reports) reports->add_to(job);
                 },
             .pruned =
                 [this] {
                   if (caretaker) caretaker->wake();
                 },
             .end_seconds = options.end_seconds,
             .around = options.around})),
        failed(::eventfd(0, EFD_CLOEXEC)) {}

  // False: a call has not ended, and uses what is here.
  bool end() {
    ::unlink(wire::socket_path(options.state).c_str());
    if (options.share) {
      ::unlink(wire::socket_path(wire::shared_directory(options.state)).c_str());
    }
    workers.stop();  // first, or those that lose their connection would be replaced
    if (!service->shut_down()) return false;
    caretaker.reset();
    if (loop) loop->stop();
    reports.reset();  // so that the journal is the last to close the file, and takes its log over
    journal.reset();
    loop.reset();
    ::close(failed);
    return true;
  }

  Status open() {
    ::unlink((options.state + "/address").c_str());  // of a program that listened elsewhere
    const jobs::BookOptions book = book_options(options);
    ATTUNE_ASSIGN(StateFile file, StateFile::open(wire::database_path(options.state)));
    ATTUNE_RETURN_IF_ERROR(file.write_pools(pools_of(book)));
    ATTUNE_ASSIGN(Rows rows, read_rows(file));
    const double newest = newest_of(rows);
    jobs::Book filled(book, std::move(rows.jobs), clock.now());
    filled.recall(rows.stages);
    ATTUNE_ASSIGN(StateFile to_read, StateFile::open_to_read(wire::database_path(options.state)));
    reports.emplace(std::move(to_read));
    journal.emplace(std::move(file), [this](const Error& error) { fail(error); });
    loop.emplace(std::move(filled), *journal, *this, clock, options.lease_seconds);
    caretaker.emplace(options.state, options.retention, *loop, *journal, clock, newest,
                      options.around.looked);
    ATTUNE_RETURN_IF_ERROR(service->serve_at(*loop));
    loop->serve();
    workers.start();
    return {};
  }

  struct Rows {
    std::vector<jobs::JobRow> jobs;
    std::vector<jobs::StageRow> stages;
  };
  // The last moment at which something happened; 0: nothing did.
  static double newest_of(const Rows& rows) {
    double newest = 0;
    for (const jobs::JobRow& row : rows.jobs) {
      newest = std::max({newest, row.job.submitted_at(), row.job.started_at(), row.job.ended_at()});
    }
    for (const jobs::StageRow& row : rows.stages) newest = std::max(newest, row.bar.ended_at());
    return newest;
  }
  // What the scheduler before left. Damaged rows on which nothing depends do not keep this one from
  // starting.
  Result<Rows> read_rows(StateFile& file) {
    const auto read = [&]() -> Result<Rows> {
      Rows rows;
      ATTUNE_ASSIGN(rows.jobs, file.read_jobs(StateFile::Reports::Leave));
      ATTUNE_ASSIGN(rows.stages, file.read_stages(kRecalledStages));
      return rows;
    };
    Result<Rows> rows = read();
    if (rows.ok()) return rows;
    ATTUNE_ASSIGN(const std::vector<std::string> lines, file.set_damaged_aside(clock.now()));
    for (const std::string& line : lines) note(line);
    return lines.empty() ? std::move(rows) : read();
  }

  jobs::Pass admit(jobs::WorkerId worker, const jobs::Caller& caller, const std::string& token) {
    jobs::Pass pass{.caller = caller};
    if (caller.uid == ::geteuid()) {
      pass.local =
          workers.adopt(worker, token) || (!options.attached.empty() && token == options.attached);
    }
    pass.by_token =
        pass.local ? jobs::Standing::Worker : tokens.use(token, caller.uid, clock.now());
    return pass;
  }

  void fail(const Error& error) {
    const std::lock_guard guard(mutex);
    if (failure.ok()) failure = error;
    ::eventfd_write(failed, 1);
  }

  void send(jobs::WorkerId worker, const v1::ToWorker& message) override {
    service->send(worker, message);
  }
  void close(jobs::WorkerId worker) override { service->close(worker); }
  // Those that are no processes of ours have ended with their connections.
  void kill(jobs::WorkerId worker) override {
    if (!workers.kill(worker)) died(worker, {});
  }
  void died(jobs::WorkerId worker, const jobs::WorkerDeath& death) {
    loop->post([worker, death](Turn& turn) {
      turn.changed = true;
      turn.book.process_ended(worker, death, turn.now);
    });
  }
  void note(const std::string& text) override {
    if (options.note) options.note(text);
  }
  void parked(int count) override { workers.set_extra(count); }

  ServerOptions options;
  StateLock lock;
  const UnixClock clock = options.around.clock;
  Tokens tokens;
  LocalWorkers workers;
  std::unique_ptr<Service> service;
  int failed;
  std::mutex mutex;
  Status failure;
  std::optional<Journal> journal;
  std::optional<EventLoop> loop;
  std::optional<Reports> reports;
  std::optional<Caretaker> caretaker;
};

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

// What a call that does not end still uses is left to the end of the process.
Server::~Server() {
  if (!parts_->end()) (void)parts_.release();
}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options) {
  ATTUNE_ASSIGN(StateLock lock, StateLock::take(options.state));
  std::unique_ptr<Server> server(
      new Server(std::make_unique<Parts>(std::move(options), std::move(lock))));
  ATTUNE_RETURN_IF_ERROR(server->parts_->open());
  return server;
}

std::string Server::worker_token() {
  return parts_->tokens.hand_out(::geteuid(), jobs::Standing::Worker, parts_->clock.now());
}

int Server::failure_descriptor() const { return parts_->failed; }

Status Server::failure() const {
  const std::lock_guard guard(parts_->mutex);
  return parts_->failure;
}

}  // namespace attune::server
