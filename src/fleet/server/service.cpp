#include "fleet/server/service.h"

#include <fmt/format.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_posix.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "fleet/jobs/book/user_limits.h"
#include "fleet/server/calls.h"
#include "fleet/server/listener.h"
#include "fleet/server/private_folder.h"
#include "fleet/server/streams.h"
#include "fleet/wire/limits.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/user_name.h"

namespace attune::server {
namespace {

// What another user may have received of, which is said to gRPC.
void bound(grpc::ServerBuilder& builder, std::uint32_t uid) {
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, jobs::kCallsOfAConnection);
  grpc::ResourceQuota quota("user " + std::to_string(uid));
  builder.SetResourceQuota(quota.Resize(jobs::kReceivedBytesOfAUser));
}

// The connections of one user.
struct UserServer {
  UserServer(CallState& state, const jobs::Caller& caller)
      : calls(
            state, [caller](const grpc::CallbackServerContext&) { return caller; },
            caller.uid == state.uid ? nullptr : &rates) {
    grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                               wire::kLeastPingMs);
    if (caller.uid != state.uid) bound(builder, caller.uid);
    builder.SetMaxReceiveMessageSize(static_cast<int>(wire::kLargestMessage));
    builder.RegisterService(&calls);
    server = builder.BuildAndStart();
  }
  void shut_down() const { server->Shutdown(std::chrono::system_clock::now()); }

  UserRates rates;
  SchedulerCalls calls;
  std::unique_ptr<grpc::Server> server;
};

class GrpcService final : public Service {
 public:
  explicit GrpcService(ServiceOptions options) {
    state_.options = std::move(options);
    state_.uid = ::geteuid();
  }

  // The socket in the state folder comes last: who finds it finds all else in place.
  Status serve_at(EventLoop& loop) override {
    state_.loop = &loop;
    const std::string& own = state_.options.state;
    const std::optional<gid_t> group = state_.options.share;
    const std::string shared = wire::shared_directory(own);
    std::vector<wire::Descriptor> sockets;
    if (!group) {  // it may have been shared before
      ::unlink(wire::socket_path(shared).c_str());
      ::rmdir(shared.c_str());
    } else {
      ATTUNE_RETURN_IF_ERROR(make_shared_folder(shared, *group));
      ATTUNE_ASSIGN(wire::Descriptor socket,
                    wire::listen_at_path(wire::socket_path(shared), 0660, group));
      sockets.push_back(std::move(socket));
    }
    ATTUNE_ASSIGN(wire::Descriptor socket, wire::listen_at_path(wire::socket_path(own), 0600));
    sockets.push_back(std::move(socket));
    const auto only = group ? std::nullopt : std::optional<std::uint32_t>(state_.uid);
    listener_.emplace(std::move(sockets),
                      ListenerOptions{.only = only, .uid_of = state_.options.around.uid_of},
                      [this](wire::Descriptor& made, std::uint32_t uid,
                             const Listener::IsConnected& is_connected) {
                        return take(made, uid, is_connected);
                      });
    return {};
  }

  bool shut_down() override {
    if (!listener_) return true;
    listener_.reset();
    std::unique_lock lock(state_.mutex);
    state_.closing = true;
    // Not for ever: somebody may never read theirs.
    const std::chrono::duration<double> patience(state_.options.end_seconds);
    state_.gone.wait_for(lock, patience, [&] { return state_.answers == 0; });
    lock.unlock();
    // It waits for the calls itself, and not for a while only.
    std::thread ends_all([this] {
      for (auto& [uid, user] : users_) user.shut_down();
    });
    lock.lock();
    const bool ended = state_.gone.wait_for(lock, patience, [&] {
      return state_.workers.empty() && state_.watchers.empty() && state_.calls == 0;
    });
    lock.unlock();
    if (!ended) {
      ends_all.detach();
      return false;
    }
    ends_all.join();
    users_.clear();
    state_.reads.stop();
    state_.files.stop();
    return true;
  }

  void send(jobs::WorkerId worker, const v1::ToWorker& message) override {
    const std::lock_guard lock(state_.mutex);
    const auto found = state_.workers.find(worker);
    if (found != state_.workers.end()) found->second->send(message);
  }

  void close(jobs::WorkerId worker) override {
    const std::lock_guard lock(state_.mutex);
    const auto found = state_.workers.find(worker);
    if (found != state_.workers.end()) found->second->close();
  }

 private:
  // On the listener's thread.
  Status take(wire::Descriptor& socket, std::uint32_t uid,
              const Listener::IsConnected& is_connected) {
    auto found = users_.find(uid);
    if (found == users_.end()) {
      // Whoever may act as users of a container may be as many as they like.
      if (uid != state_.uid && !state_.options.around.is_known_user(uid)) {
        return Error{
            ErrorCode::Unsupported, fmt::format("user {} is not known on this machine", uid), {}};
      }
      if (other_users() >= jobs::kUsersAtOnce) drop_idle_users(is_connected);
      if (other_users() >= jobs::kUsersAtOnce && uid != state_.uid) {
        return Error{ErrorCode::Exhausted,
                     fmt::format("{} users are connected to this scheduler, which takes no more",
                                 jobs::kUsersAtOnce),
                     {}};
      }
      found = users_.try_emplace(uid, state_, jobs::Caller{uid, wire::user_name(uid)}).first;
    }
    grpc::AddInsecureChannelFromFd(found->second.server.get(), socket.release());
    return {};
  }

  std::size_t other_users() const { return users_.size() - users_.count(state_.uid); }

  // Who has no connection can begin no call.
  void drop_idle_users(const Listener::IsConnected& is_connected) {
    std::erase_if(users_, [&](auto& each) {
      if (each.first == state_.uid || is_connected(each.first)) return false;
      {
        const std::lock_guard lock(state_.mutex);
        if (state_.users.count(each.first) != 0) return false;
      }
      each.second.shut_down();
      return true;
    });
  }

  CallState state_;
  std::map<std::uint32_t, UserServer> users_;  // the listener's, while there is one
  std::optional<Listener> listener_;
};

}  // namespace

std::unique_ptr<Service> make_service(ServiceOptions options) {
  return std::make_unique<GrpcService>(std::move(options));
}

}  // namespace attune::server
