// Signing artifacts, as the runtime sees it: it keeps signatures and hands them over, and knows no
// cryptography. What signs and verifies is the caller's; the program uses OpenSSL (app/signing).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"

namespace attune::runtime {

inline constexpr std::size_t kSignatureBytes = 64;

// The signature, kSignatureBytes long, of all bytes of an artifact before it.
using SignBytes = std::function<Result<std::vector<std::byte>>(std::span<const std::byte> bytes)>;

// Fails when it is not a signature of these bytes by somebody whom the caller trusts. Empty: any
// artifact will do.
using VerifyBytes =
    std::function<Status(std::span<const std::byte> bytes, std::span<const std::byte> signature)>;

}  // namespace attune::runtime
