// What clients and workers say to the scheduler. The input is a row of messages, each a byte that
// says of which kind it is, its size in two bytes, and the message as gRPC hands it over. Whatever
// is said, the next book believes the rows that come of it.
#include "fleet/jobs/book/book_testing.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {
namespace {

const jobs::Caller kStranger{.uid = 4321, .user = "somebody"};

template <typename Message, typename Take>
void hear(const std::string& bytes, const Take& take) {
  Message message;
  if (message.ParseFromString(bytes)) take(message);
}

// A scheduler that two workers are connected to; one that leaves is followed by another. Clients
// are its own user or somebody else.
class Conversation {
 public:
  Conversation() {
    book_.joined(1, jobs::kLocal, 0);
    book_.joined(2, jobs::kElsewhere, 0);
  }

  void say(unsigned kind, const std::string& bytes) {
    jobs::WorkerId& worker = workers_[kind / 8 % 2];
    const bool other = kind / 16 % 2 != 0;
    const jobs::Caller& caller = other ? kStranger : jobs::kMe;
    switch (kind % 8) {
      case 0:
        hear<v1::SubmitRequest>(bytes, [&](const auto& m) { (void)book_.submit(caller, m, now_); });
        break;
      case 1:
        hear<v1::ControlRequest>(bytes,
                                 [&](const auto& m) { (void)book_.control(caller, m, now_); });
        break;
      case 2:
        hear<v1::ListRequest>(bytes, [&](const auto& m) { (void)book_.snapshot(caller, m, now_); });
        break;
      case 3:
        book_.left(worker, now_);
        if (kind / 32 % 2 != 0) {  // else its process does not end
          book_.process_ended(worker, {.cause = jobs::WorkerDeath::Cause::Starved}, now_);
        }
        worker = ++last_;
        book_.joined(worker, other ? jobs::kLocal : jobs::kElsewhere, now_);
        break;
      case 7:
        hear<v1::PruneRequest>(bytes, [&](const auto& m) { (void)book_.prune(caller, m, now_); });
        break;
      default:
        hear<v1::FromWorker>(bytes, [&](const auto& m) {
          if (book_.knows_worker(worker)) book_.said(worker, m, now_);
        });
    }
    now_ += 0.5;
    book_.time_passed(now_);
    const std::string wrong = jobs::put_on_disk(book_.settle(now_), disk_);
    CHECK(wrong.empty(), wrong);
  }

 private:
  jobs::Book book_{jobs::options(), {}, 0};
  jobs::WorkerId workers_[2] = {1, 2}, last_ = 2;
  std::map<std::int64_t, jobs::JobRow> disk_;
  double now_ = 0;
};

}  // namespace

void fuzz_messages(std::string_view bytes) {
  Conversation conversation;
  constexpr std::size_t kHead = 3;
  while (bytes.size() >= kHead) {
    const auto number = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const std::size_t size =
        std::min<std::size_t>(number(1) | number(2) << 8, bytes.size() - kHead);
    conversation.say(number(0), std::string(bytes.substr(kHead, size)));
    bytes.remove_prefix(kHead + size);
  }
}

}  // namespace attune::fuzz
