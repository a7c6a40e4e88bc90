#include "fleet/server/service.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_posix.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <optional>

#include "fleet/server/calls.h"
#include "fleet/server/listener.h"
#include "fleet/server/private_folder.h"
#include "fleet/server/streams.h"
#include "fleet/wire/limits.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/user_name.h"

namespace attune::server {
namespace {

constexpr int kMostCallsOfOthers = 64;  // at once, over one connection
constexpr std::size_t kMostUsers = 256;
constexpr RateLimit::Rate kCallsOfOthers{.at_once = 512, .a_second = 256};
constexpr auto kWaitForAnswers = std::chrono::seconds(30);

// The connections of one user.
struct UserServer {
  UserServer(CallState& state, const jobs::Caller& caller)
      : rate(kCallsOfOthers),
        calls(
            state, [caller](const grpc::CallbackServerContext&) { return caller; },
            caller.uid == state.uid ? nullptr : &rate) {
    const bool own = caller.uid == state.uid;
    grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    if (!own) builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostCallsOfOthers);
    builder.SetMaxReceiveMessageSize(static_cast<int>(wire::kLargestMessage));
    builder.RegisterService(&calls);
    server = builder.BuildAndStart();
  }

  RateLimit rate;
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
    listener_.emplace(std::move(sockets), only, [this](wire::Descriptor made, std::uint32_t uid) {
      take(std::move(made), uid);
    });
    return {};
  }

  void shut_down() override {
    if (!listener_) return;
    listener_.reset();
    std::unique_lock lock(state_.mutex);
    state_.closing = true;
    // Not for ever: somebody may never read theirs.
    state_.gone.wait_for(lock, kWaitForAnswers, [&] { return state_.answers == 0; });
    lock.unlock();
    for (auto& [uid, user] : users_) user.server->Shutdown(std::chrono::system_clock::now());
    lock.lock();
    state_.gone.wait(lock, [&] {
      return state_.workers.empty() && state_.watchers.empty() && state_.calls == 0;
    });
    lock.unlock();
    users_.clear();
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
  void take(wire::Descriptor socket, std::uint32_t uid) {
    auto found = users_.find(uid);
    if (found == users_.end()) {
      if (users_.size() >= kMostUsers && uid != state_.uid) return;
      found = users_.try_emplace(uid, state_, jobs::Caller{uid, wire::user_name(uid)}).first;
    }
    grpc::AddInsecureChannelFromFd(found->second.server.get(), socket.release());
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
