#include "fleet/wire/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

namespace attune::wire {

std::shared_ptr<grpc::Channel> open_channel(const std::string& address) {
  constexpr int kLargestMessage = 256 << 20;  // a list of many jobs with their reports
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Messages are small and far apart: there is no bandwidth to find out about by pings.
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetMaxReceiveMessageSize(kLargestMessage);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace attune::wire
