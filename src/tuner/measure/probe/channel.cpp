#include "tuner/measure/probe/channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace attune::probe {
namespace {

struct Wire {
  MessageKind kind;
  std::uint32_t value;
};

union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Result<std::pair<Descriptor, Descriptor>> make_channel() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{ErrorCode::Io, std::string("cannot create a socket pair: ") + std::strerror(errno),
                 "raise the limit of open files (ulimit -n)"};
  }
  return std::pair<Descriptor, Descriptor>(Descriptor(ends[0]), Descriptor(ends[1]));
}

bool send(const Descriptor& channel, const Message& message) {
  Wire wire{message.kind, message.value};
  iovec data{&wire, sizeof wire};
  Control control = {};
  msghdr header = {};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (message.descriptor >= 0) {
    header.msg_control = control.bytes;
    header.msg_controllen = sizeof control.bytes;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &message.descriptor, sizeof(int));
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(channel.number(), &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof wire);
}

std::optional<Message> receive(const Descriptor& channel) {
  Wire wire{};
  iovec data{&wire, sizeof wire};
  Control control = {};
  msghdr header = {};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof control.bytes;
  ssize_t received = 0;
  do {
    received = recvmsg(channel.number(), &header, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received != static_cast<ssize_t>(sizeof wire)) return std::nullopt;
  Message message{wire.kind, wire.value, -1};
  const cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&message.descriptor, CMSG_DATA(rights), sizeof(int));
  }
  return message;
}

}  // namespace attune::probe
