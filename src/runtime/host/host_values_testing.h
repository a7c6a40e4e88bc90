// Tensors by value, for the tests of host operators.
#pragma once

#include <cstring>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "runtime/host/host.h"
#include "runtime/memory/dtype.h"

namespace attune::runtime {

struct HostValue {
  DType type = DType::F32;
  Shape shape;
  std::vector<double> values;
  bool present = true;

  bool operator==(const HostValue& other) const {
    return type == other.type && shape == other.shape && values == other.values;
  }
};

inline HostValue absent() {
  return {.type = DType::F32, .shape = {}, .values = {}, .present = false};
}

struct HostRun {
  Status status;
  std::vector<HostValue> outputs;
};

// Runs an operator on values; every output has room for `room` elements.
inline HostRun run_values(std::string_view op, const HostAttributes& attributes,
                          const std::vector<HostValue>& inputs, const std::vector<DType>& outputs,
                          std::size_t room = 256) {
  std::vector<std::vector<std::uint64_t>> memory;
  std::vector<HostTensor> in;
  std::vector<HostTensor> out;
  for (const HostValue& input : inputs) {
    auto& bytes = memory.emplace_back(input.values.size() + 1);
    for (std::size_t i = 0; i < input.values.size(); ++i) {
      write_element(bytes.data(), input.type, static_cast<std::int64_t>(i), input.values[i]);
    }
    in.push_back({input.type, input.shape, bytes.data(),
                  static_cast<std::int64_t>(input.values.size() * byte_size(input.type)),
                  input.present});
  }
  for (const DType type : outputs) {
    auto& bytes = memory.emplace_back(room + 1);
    out.push_back({type, {}, bytes.data(), static_cast<std::int64_t>(room * byte_size(type))});
  }
  HostRun run{run_host(op, attributes, in, out), {}};
  for (const HostTensor& tensor : out) {
    HostValue value{.type = tensor.type, .shape = tensor.shape, .values = {}};
    for (std::int64_t i = 0; run.status.ok() && i < tensor.shape.elements(); ++i) {
      value.values.push_back(read_element(tensor.data, tensor.type, i));
    }
    run.outputs.push_back(std::move(value));
  }
  return run;
}

}  // namespace attune::runtime
