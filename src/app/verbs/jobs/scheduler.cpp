#include "app/verbs/jobs/scheduler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/text_file.h"
#include "base/version.h"
#include "fleet/jobs/policies/policies.h"
#include "fleet/jobs/simulation/colocation_file.h"
#include "fleet/server/core_groups.h"
#include "fleet/server/private_folder.h"
#include "fleet/server/server.h"
#include "fleet/wire/devices.h"
#include "fleet/wire/state_directory.h"
#include "runtime/execution/affinity.h"
#include "runtime/execution/usable_cores.h"
#include "tuner/session/stage_kinds.h"

namespace attune::verbs {
namespace {

Status check_allowed(const std::vector<int>& allowed, const std::vector<int>& asked) {
  for (const int core : asked) {
    if (std::find(allowed.begin(), allowed.end(), core) != allowed.end()) continue;
    return invalid(fmt::format("this process may not use core {}", core),
                   fmt::format("it may use {}", fmt::join(allowed, ", ")));
  }
  return {};
}

// Those that are not taken, or all when nothing is left.
std::vector<int> rest_of(const std::vector<int>& allowed, const std::vector<int>& taken) {
  std::vector<int> rest;
  for (const int core : allowed) {
    if (std::find(taken.begin(), taken.end(), core) == taken.end()) rest.push_back(core);
  }
  return rest.empty() ? allowed : rest;
}

// What a calibration says, where it was made for the cores that are used now.
Result<std::vector<std::pair<std::string, std::string>>> read_apart(
    const std::string& state, const CorePlan& cores, int cpu_devices,
    const std::function<void(const std::string&)>& note) {
  const std::string path = wire::colocation_path(state);
  std::vector<std::pair<std::string, std::string>> apart;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return apart;
  ATTUNE_ASSIGN(const std::string text, read_text_file(path, kLargestSettingBytes));
  const Result<jobs::CoLocationMatrix> matrix = jobs::parse_colocation(text);
  if (!matrix.ok()) {
    return Error{ErrorCode::Corrupt, fmt::format("'{}': {}", path, matrix.error().message),
                 "remove it, or write it anew with 'attune scheduler calibrate'"};
  }
  if (matrix->host_cores == cores.host && matrix->device_cores == cores.profile &&
      matrix->devices == cpu_devices) {
    return jobs::kinds_apart(*matrix, kinds_of_stages());
  }
  if (note) {
    note(fmt::format(
        "'{}' is not obeyed: it was measured on other cores (host {}, measuring {} as "
        "{}); 'attune scheduler calibrate' measures anew",
        path, fmt::join(matrix->host_cores, ","), fmt::join(matrix->device_cores, ","),
        matrix->devices == 1 ? "one device" : fmt::format("{} devices", matrix->devices)));
  }
  return apart;
}

// What keeps stages on their cores: groups, or affinity alone, and that in words.
struct CoreKeeping {
  std::unique_ptr<server::OwnCoreGroups> groups;
  std::string words;
};

CoreKeeping keep_cores(const ServeOptions& options, const std::string& state, const CorePlan& cores,
                       int cpu_devices) {
  const auto by_affinity = [](std::string_view reason) {
    return CoreKeeping{nullptr, fmt::format("affinity, because {}", reason)};
  };
  if (!options.use_cpuset) return by_affinity("--cpuset is off");
  if (options.workers == 0) return by_affinity("no worker is started here");
  const auto is_host = [&](int core) {
    return std::find(cores.host.begin(), cores.host.end(), core) != cores.host.end();
  };
  if (std::any_of(cores.profile.begin(), cores.profile.end(), is_host)) {
    return by_affinity("host stages and measurements share cores");
  }
  const auto place = find_control_group("cpuset");
  if (!place.ok()) return by_affinity(place.error().message);
  std::vector<std::vector<int>> devices;
  const auto each = static_cast<std::ptrdiff_t>(cores.profile.size()) / cpu_devices;
  for (auto core = cores.profile.begin(); core != cores.profile.end(); core += each) {
    devices.emplace_back(core, core + each);
  }
  auto groups =
      server::OwnCoreGroups::make(*place, server::core_groups_name(state), cores.host, devices);
  if (!groups.ok()) return by_affinity(groups.error().message);
  const bool isolates = (*groups)->isolates();
  return {std::move(*groups),
          isolates ? "cpuset cgroup, isolated while measuring" : "cpuset cgroup"};
}

// SIGINT and SIGTERM as something to wait for, as long as the object lives.
class EndSignals {
 public:
  EndSignals() {
    ::sigemptyset(&signals_);
    ::sigaddset(&signals_, SIGINT);
    ::sigaddset(&signals_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    descriptor_ = ::signalfd(-1, &signals_, SFD_CLOEXEC);
  }
  ~EndSignals() {
    ::close(descriptor_);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // Until one comes, or the other descriptor is readable.
  void wait_with(int other) const {
    pollfd waiting[] = {{descriptor_, POLLIN, 0}, {other, POLLIN, 0}};
    while (::poll(waiting, 2, -1) < 0 && errno == EINTR) {
    }
    signalfd_siginfo taken;
    if (waiting[0].revents != 0) (void)!::read(descriptor_, &taken, sizeof taken);
  }

 private:
  sigset_t signals_ = {}, before_ = {};
  int descriptor_ = -1;
};

}  // namespace

std::vector<jobs::KindLike> kinds_of_stages() {
  std::vector<jobs::KindLike> kinds;
  for (const session::StageKindInfo& kind : session::stage_kinds()) {
    kinds.push_back({kind.name, kind.workload == session::Workload::Building   ? jobs::kBuilding
                                : kind.workload == session::Workload::Learning ? jobs::kLearning
                                                                               : jobs::kMeasuring});
  }
  return kinds;
}

Result<CorePlan> plan_cores(const std::vector<int>& allowed, const std::vector<int>& host,
                            const std::vector<int>& profile) {
  ATTUNE_RETURN_IF_ERROR(check_allowed(allowed, host));
  ATTUNE_RETURN_IF_ERROR(check_allowed(allowed, profile));
  CorePlan plan{host, profile};
  if (plan.profile.empty()) {
    plan.profile = plan.host.empty() ? std::vector<int>{allowed.back()} : rest_of(allowed, host);
  }
  if (plan.host.empty()) plan.host = rest_of(allowed, plan.profile);
  return plan;
}

Result<int> take_cpu_devices(const CorePlan& plan, std::map<std::string, int>& devices) {
  const auto found = devices.find(wire::kMeasuringCores);
  if (found == devices.end()) return 1;
  const int count = found->second;
  const auto cores = static_cast<int>(plan.profile.size());
  devices.erase(found);
  if (count > 0 && cores % count == 0) return count;
  return invalid(fmt::format("{} devices {} cannot be made of {} measuring {}", count,
                             wire::kMeasuringCores, cores, cores == 1 ? "core" : "cores"),
                 "give --profile-cores so many, or a multiple of it");
}

Status serve_jobs(const ServeOptions& options,
                  const std::function<void(const Serving&)>& on_ready) {
  ATTUNE_ASSIGN(const jobs::Policy* policy, jobs::find_policy(options.policy));
  if (!options.quotas.empty() && !policy->has_quotas) {
    return invalid(fmt::format("the policy '{}' has no quotas", policy->name),
                   "give --policy fair-share, or leave out --quota");
  }
  ATTUNE_ASSIGN(const std::string state, wire::state_directory(options.state));
  // Who names cores may name all; else there are as many as there is time for.
  const bool named = !options.host_cores.empty() || !options.profile_cores.empty();
  ATTUNE_ASSIGN(const CorePlan cores,
                plan_cores(named ? runtime::allowed_cores() : runtime::usable_cores(),
                           options.host_cores, options.profile_cores));
  std::map<std::string, int> devices = options.devices;
  ATTUNE_ASSIGN(const int cpu_devices, take_cpu_devices(cores, devices));
  ATTUNE_ASSIGN(auto apart, read_apart(state, cores, cpu_devices, options.note));
  std::optional<gid_t> share;
  if (!options.share.empty()) {
    ATTUNE_ASSIGN(share, server::find_group(options.share));
  }
  std::error_code ignored;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  const EndSignals signals;
  // The scheduler itself stays away from the cores that are measured on; so do its threads.
  ATTUNE_RETURN_IF_ERROR(runtime::pin_current_thread(cores.host));
  const auto kept_apart = static_cast<int>(apart.size());
  const CoreKeeping keeping = keep_cores(options, state, cores, cpu_devices);
  const auto worker_ended = [&groups = keeping.groups] {
    if (groups) groups->release_all();
  };
  ATTUNE_ASSIGN(const std::unique_ptr<server::Server> server,
                server::Server::start({.state = state,
                                       .version = version(),
                                       .policy = policy,
                                       .prefetch = options.prefetch,
                                       .in_turn = options.in_turn,
                                       .host_cores = cores.host,
                                       .profile_cores = cores.profile,
                                       .cpu_devices = cpu_devices,
                                       .devices = devices,
                                       .quotas = options.quotas,
                                       .apart = std::move(apart),
                                       .share = share,
                                       .workers = options.workers,
                                       .worker_command = {program, "worker", "--state", state},
                                       .cores_kept = keeping.words,
                                       .note = options.note,
                                       .worker_ended = worker_ended,
                                       .retention = options.retention,
                                       .limits = options.limits}));
  // Not before the state is ours: by then all workers of an earlier scheduler have ended.
  if (keeping.groups) keeping.groups->remove_leftovers();
  on_ready({state, share ? wire::shared_directory(state) : "", cores, kept_apart, keeping.words});
  signals.wait_with(server->failure_descriptor());
  return server->failure();
}

}  // namespace attune::verbs
