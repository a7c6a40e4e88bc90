#include "tuner/measure/device_runner/serve.h"

#include <poll.h>
#include <unistd.h>

#include <optional>
#include <thread>

#include "tuner/measure/device_runner/line.h"
#include "tuner/measure/device_runner/served_device.h"

namespace attune::device_runner {
namespace {

class Server {
 public:
  Server(int line, runtime::DeviceKinds kinds) : line_(line), kinds_(kinds) {}

  bool answer(const Message& asked) {
    AnswerReader reader(asked.bytes);
    Result<Bytes> done = perform(asked.kind, reader);
    if (done.ok()) return send(line_, {Kind::Done, std::move(*done)}, kNoDeadline);
    Bytes why;
    append_value(why, done.error().code);
    append_text(why, done.error().message);
    return send(line_, {Kind::Failed, std::move(why)}, kNoDeadline);
  }

 private:
  Result<Bytes> perform(Kind kind, AnswerReader& reader) {
    if (kind == Kind::Open) return open(reader);
    if (!device_) return invalid("no device is open");
    const auto id = reader.value<std::uint64_t>();
    Bytes bytes;
    switch (kind) {
      case Kind::Run: {
        ATTUNE_ASSIGN(Wanted wanted, wanted_from(reader));
        ATTUNE_ASSIGN(const auto first, device_->run(id, std::move(wanted), teller()));
        append_value(bytes, first.us);
        append_values(bytes, first.values);
        return bytes;
      }
      case Kind::Time: {
        const HowToTime how = how_to_time_from(reader);
        ATTUNE_RETURN_IF_ERROR(reader.status());
        ATTUNE_ASSIGN(const auto timed, device_->time(id, how));
        append_timing(bytes, timed.timing);
        append_values(bytes, timed.values);
        return bytes;
      }
      case Kind::Repeat: {
        ATTUNE_ASSIGN(const double us, device_->repeat(id, reader.value<std::int64_t>()));
        append_value(bytes, us);
        return bytes;
      }
      case Kind::Fresh: {
        ATTUNE_ASSIGN(const std::vector<double> values, device_->fresh(id));
        append_values(bytes, values);
        return bytes;
      }
      case Kind::Condition: {
        ATTUNE_ASSIGN(const std::string text, device_->condition());
        append_text(bytes, text);
        return bytes;
      }
      case Kind::Forget:
        device_->forget(id);
        return bytes;
      default:
        return invalid("a message that is no question");
    }
  }

  Result<Bytes> open(AnswerReader& reader) {
    const std::string kind = reader.text(), target = reader.text();
    const auto launch_us = reader.value<double>();
    ATTUNE_RETURN_IF_ERROR(reader.status());
    ATTUNE_ASSIGN(const runtime::DeviceKind* const found, runtime::find_device(kinds_, kind));
    ATTUNE_ASSIGN(ServedDevice device, ServedDevice::open(*found, target, launch_us));
    device_.emplace(std::move(device));
    return Bytes();
  }

  TellPhase teller() const {
    return [this](outcome::Phase phase) {
      Bytes bytes;
      append_value(bytes, phase);
      (void)send(line_, {Kind::Phase, std::move(bytes)}, kNoDeadline);
    };
  }

  const int line_;
  const runtime::DeviceKinds kinds_;
  std::optional<ServedDevice> device_;
};

// Ends the process when the other end is gone, whatever it is doing.
void end_with(int line) {
  for (;;) {
    pollfd watched{line, POLLRDHUP, 0};
    if (::poll(&watched, 1, -1) > 0 && watched.revents != 0) ::_exit(0);
  }
}

}  // namespace

int serve(int line, runtime::DeviceKinds kinds) {
  std::thread([line] { end_with(line); }).detach();
  Server server(line, kinds);
  Message asked;
  while (receive(line, asked, kNoDeadline) == Heard::Message) {
    if (!server.answer(asked)) break;
  }
  return 0;
}

}  // namespace attune::device_runner
