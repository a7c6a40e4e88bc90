// How a host operator is written: a function of one Call. The list of all of them is operators.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/host/host.h"

namespace attune::runtime::host {

struct Call {
  std::string_view op;
  const HostAttributes& attributes;
  std::span<const HostTensor> inputs;
  std::span<HostTensor> outputs;
};

struct Operator {
  std::string_view name;
  Status (*run)(const Call& call);
};

std::span<const Operator> operators();

}  // namespace attune::runtime::host
