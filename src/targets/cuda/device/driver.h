// CUDA's driver, found when the program runs: libcuda.so.1, or what $ATTUNE_LIBCUDA names. The
// table has one member for each function of driver_calls.inc, each with the name by which errors
// tell of it. A process that has called init() must not fork and go on with CUDA in the child.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "targets/cuda/device/driver_types.h"

namespace attune::cuda {

template <typename... Parameters>
struct Call {
  const char* symbol = nullptr;
  CuResult (*function)(Parameters...) = nullptr;
};

// The member for a list of parameters.
template <typename Signature>
struct CallOf;
template <typename... Parameters>
struct CallOf<void(Parameters...)> {
  using type = Call<Parameters...>;
};

struct Driver {
#define ATTUNE_CUDA_CALL(name, symbol, parameters) CallOf<void parameters>::type name = {symbol};
#include "targets/cuda/device/driver_calls.inc"

  // What a failing call comes to: which call it was, CUDA's word for the error, and a hint.
  // `doing` says what it was for.
  Error error_of(const char* symbol, CuResult result, std::string_view doing) const;

  // Calls; an error says what it was for.
  template <typename... Parameters, typename... Arguments>
  Status operator()(std::string_view doing, const Call<Parameters...>& call,
                    Arguments... arguments) const {
    const CuResult result = call.function(arguments...);
    if (result == kSuccess) return {};
    return error_of(call.symbol, result, doing);
  }
};

// Opens the library and finds its functions; none is called that would start CUDA. Unsupported when
// there is no driver here, or an old one.
Result<std::shared_ptr<const Driver>> open_driver();

// For hints: what can be done with CUDA where no card is.
inline constexpr const char* kElsewhere =
    "compile for a card elsewhere with --target 'cuda -arch=sm_90a'";

}  // namespace attune::cuda
