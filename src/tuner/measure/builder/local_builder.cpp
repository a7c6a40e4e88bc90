#include "tuner/measure/builder/local_builder.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <latch>
#include <mutex>
#include <thread>

#include "runtime/execution/affinity.h"
#include "runtime/execution/usable_cores.h"
#include "tuner/measure/builder/reference.h"

namespace attune::builder {

// A queue of work and the threads that take from it.
class LocalBuilder::Workers {
 public:
  explicit Workers(LocalBuilderOptions options) : options_(std::move(options)) {
    if (options_.cores.empty()) options_.cores = runtime::usable_cores();
    for (const int core : options_.cores) {
      threads_.emplace_back([this, core] { serve(core); });
    }
  }

  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // Runs all pieces and returns when the last is done.
  void run(std::size_t count, const std::function<void(std::size_t)>& piece) {
    std::latch left(static_cast<std::ptrdiff_t>(count));
    {
      const std::lock_guard lock(mutex_);
      for (std::size_t i = 0; i < count; ++i) {
        queue_.emplace_back([&left, &piece, i] {
          piece(i);
          left.count_down();
        });
      }
    }
    changed_.notify_all();
    left.wait();
  }

  const LocalBuilderOptions& options() const { return options_; }
  PrepareCache& prepared() { return prepared_; }

 private:
  void serve(int core) {
    // Where pinning is not allowed the scheduler decides; results are the same.
    static_cast<void>(runtime::pin_current_thread(core));
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ending_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }

  LocalBuilderOptions options_;
  PrepareCache prepared_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

LocalBuilder::LocalBuilder(LocalBuilderOptions options)
    : workers_(std::make_unique<Workers>(std::move(options))) {}
LocalBuilder::~LocalBuilder() = default;

std::vector<measure::BuiltCandidate> LocalBuilder::build(
    std::span<const measure::BuildRequest> requests) {
  std::vector<measure::BuiltCandidate> built(requests.size());
  const LocalBuilderOptions& options = workers_->options();
  workers_->run(requests.size(), [&](std::size_t i) {
    built[i] = build_candidate(requests[i], options.target, options.limits, workers_->prepared());
  });
  return built;
}

Result<measure::Expectation> LocalBuilder::expect(const ir::Program& program, std::uint64_t seed) {
  Result<measure::Expectation> expectation = measure::Expectation{};
  workers_->run(1, [&](std::size_t) { expectation = reference_of(program, seed); });
  return expectation;
}

}  // namespace attune::builder
