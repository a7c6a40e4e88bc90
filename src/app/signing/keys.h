// Keys that sign artifacts and verify them: Ed25519 (RFC 8032) in PEM files, by OpenSSL, which
// nobody else sees.
#pragma once

#include <string>

#include "base/result.h"
#include "runtime/format/signature.h"

namespace attune::signing {

// Writes a new private key to `path`, for its owner alone, and the public one to public_path().
// Files that are there already are left as they are, and are an error.
Status new_key(const std::string& path);
std::string public_path(const std::string& path);

// Signs with the private key of a file, which nobody but its owner may read.
Result<runtime::SignBytes> signer(const std::string& path);

// Accepts what was signed with the private key of any of the public keys in the file.
Result<runtime::VerifyBytes> verifier(const std::string& path);

}  // namespace attune::signing
