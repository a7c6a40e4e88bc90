// A scheduler of one worker that admits everything at once, and writes down what it hears: for
// tests of workers. It serves a state directory of its own, which goes with it.
#pragma once

#include <fmt/format.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/temporary_directory_testing.h"
#include "fleet/wire/jobs.grpc.pb.h"
#include "fleet/wire/state_directory.h"

namespace attune::worker {

class AdmittingScheduler final : private v1::Scheduler::Service {
 public:
  AdmittingScheduler() { serve(); }
  ~AdmittingScheduler() override { close(); }

  const std::string& state() const { return state_; }
  // Breaks all lines, and takes no others.
  void close() {
    if (!server_) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }

  // Breaks all lines, and serves anew, still knowing everything.
  void move() {
    close();
    serve();
  }

  // Breaks all lines, and sends all who come away.
  void turn_away() {
    close();
    {
      const std::lock_guard lock(mutex_);
      turns_away_ = true;
    }
    serve();
  }

  // Given to the next worker that says hello; a wish comes right after the first result of it.
  void give(const std::string& id, const v1::JobSpec& spec,
            std::optional<v1::Wish> wish = std::nullopt) {
    const std::lock_guard lock(mutex_);
    job_.set_id(id);
    job_.set_epoch(1);
    job_.set_uid(::geteuid());
    *job_.mutable_spec() = spec;
    wish_ = wish;
  }

  void refuse_offers(const std::string& why) {
    const std::lock_guard lock(mutex_);
    why_refused_ = why;
  }

  // Called when the first stage is finished.
  void after_first_stage(std::function<void()> call) {
    const std::lock_guard lock(mutex_);
    after_first_stage_ = std::move(call);
  }

  // Waits for the end of the job.
  v1::Ended ended() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_.has_value(); });
    return *ended_;
  }
  std::map<std::string, int> finished() { return with_lock(finished_); }
  // How long a line may be broken; it is not mended unless this is said.
  void set_lease_seconds(double seconds) {
    const std::lock_guard lock(mutex_);
    lease_seconds_ = seconds;
  }
  void set_devices(int count, int cores) {
    const std::lock_guard lock(mutex_);
    devices_ = count;
    device_cores_ = cores;
  }
  // What was said to be left of a kind of stage, and how many of it had ended then.
  struct Left {
    double left;
    int ended;
  };
  std::vector<Left> said_left(const std::string& kind) {
    const std::lock_guard lock(mutex_);
    return said_left_[kind];
  }
  v1::Hello hello() { return with_lock(hello_); }
  std::vector<std::string> mistakes() { return with_lock(mistakes_); }
  int most_at_once() { return with_lock(most_at_once_); }
  v1::Progress progress() { return with_lock(progress_); }

 private:
  template <typename T>
  T with_lock(const T& value) {
    const std::lock_guard lock(mutex_);
    return value;
  }

  void serve() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + wire::socket_path(state_),
                             grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    CHECK(server_ != nullptr, "the scheduler does not start");
  }

  grpc::Status Token(grpc::ServerContext*, const v1::TokenRequest*,
                     v1::TokenReply* reply) override {
    reply->set_token("a worker may come");
    return grpc::Status::OK;
  }

  using Line = grpc::ServerReaderWriter<v1::ToWorker, v1::FromWorker>;

  grpc::Status Work(grpc::ServerContext*, Line* line) override {
    v1::FromWorker message;
    while (line->Read(&message)) {
      for (const v1::ToWorker& answer : hear(message)) line->Write(answer);
    }
    return grpc::Status::OK;
  }

  std::vector<v1::ToWorker> hear(const v1::FromWorker& message) {
    const std::lock_guard lock(mutex_);
    std::vector<v1::ToWorker> answers;
    switch (message.what_case()) {
      case v1::FromWorker::kHello: {
        hello_ = message.hello();
        if (turns_away_) {
          answers.emplace_back().mutable_refused()->set_why("nobody is needed any more");
          break;
        }
        v1::Welcome& welcome = *answers.emplace_back().mutable_welcome();
        welcome.set_worker(hello_.name() + "-1");
        welcome.set_beat_seconds(0.05);
        welcome.set_lease_seconds(lease_seconds_);
        if (!job_.id().empty() && hello_.holds().empty()) {
          v1::Assign& assign = *answers.emplace_back().mutable_assign();
          *assign.mutable_job() = job_;
          assign.set_devices(devices_);
          assign.set_device_cores(device_cores_);
        }
        break;
      }
      case v1::FromWorker::kKinds:
        kinds_ = message.kinds();
        for (const v1::StageKind& kind : kinds_.kinds()) {
          const auto ended = finished_.find(kind.name());
          said_left_[kind.name()].push_back(
              {kind.left(), ended == finished_.end() ? 0 : ended->second});
        }
        break;
      case v1::FromWorker::kOffer:
        hear_offer(message.offer(), answers);
        break;
      case v1::FromWorker::kFinished:
        hear_finished(message.finished(), answers);
        break;
      case v1::FromWorker::kProgress:
        progress_ = message.progress();
        break;
      case v1::FromWorker::kEnded: {
        ended_ = message.ended();
        v1::Known& known = *answers.emplace_back().mutable_known();
        known.set_job(job_.id());
        known.set_epoch(job_.epoch());
        known.set_stage(-1);
        changed_.notify_all();
        break;
      }
      default:
        break;
    }
    return answers;
  }

  void hear_offer(const v1::Offer& offer, std::vector<v1::ToWorker>& answers) {
    if (!why_refused_.empty()) {
      v1::Refused& refused = *answers.emplace_back().mutable_refused();
      refused.set_job(offer.job());
      refused.set_epoch(offer.epoch());
      refused.set_stage(offer.stage());
      refused.set_why(why_refused_);
      return;
    }
    if (offer.kind() < 0 || offer.kind() >= kinds_.kinds_size()) {
      mistakes_.push_back(fmt::format("kind {} is not known", offer.kind()));
      return;
    }
    if (!open_.emplace(offer.stage(), offer.kind()).second && hello_.holds().empty()) {
      mistakes_.push_back("offered twice");
    }
    most_at_once_ = std::max(most_at_once_, static_cast<int>(open_.size()));
    v1::Start& start = *answers.emplace_back().mutable_start();
    start.set_job(offer.job());
    start.set_epoch(offer.epoch());
    start.set_stage(offer.stage());
  }

  void hear_finished(const v1::Finished& finished, std::vector<v1::ToWorker>& answers) {
    const auto found = open_.find(finished.stage());
    if (found == open_.end()) return mistakes_.push_back("finished what was not open");
    if (finished_.empty() && after_first_stage_) after_first_stage_();
    ++finished_[kinds_.kinds(found->second).name()];
    open_.erase(found);
    if (!wish_) return;
    v1::Order& order = *answers.emplace_back().mutable_order();
    order.set_job(job_.id());
    order.set_epoch(job_.epoch());
    order.set_wish(*wish_);
    wish_.reset();
  }

  test::TemporaryDirectory folder_;
  std::string state_ = folder_.path().string();
  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  v1::Job job_;
  std::optional<v1::Wish> wish_;
  double lease_seconds_ = 0;
  bool turns_away_ = false;
  std::string why_refused_;
  std::function<void()> after_first_stage_;
  int devices_ = 1, device_cores_ = 0;
  std::map<std::string, std::vector<Left>> said_left_;
  v1::Hello hello_;
  v1::Kinds kinds_;
  v1::Progress progress_;
  std::map<std::int64_t, int> open_;     // kinds of what was offered and not finished
  std::map<std::string, int> finished_;  // by the name of the kind
  int most_at_once_ = 0;
  std::optional<v1::Ended> ended_;
  std::vector<std::string> mistakes_;
};

}  // namespace attune::worker
