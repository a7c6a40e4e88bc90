#include "app/cli/signing_arguments.h"

#include <cstdlib>

namespace attune::cli {

SignArguments::SignArguments(CommandLine& line) {
  line.text("--sign", "KEY", key_, "sign the artifact with a private key ('attune key new')");
}

Result<runtime::SignBytes> SignArguments::take() const {
  if (key_.empty()) return runtime::SignBytes();
  return signing::signer(key_);
}

TrustArguments::TrustArguments(CommandLine& line) {
  line.text("--trust", "KEY", key_,
            "refuse an artifact that this public key did not sign ($ATTUNE_TRUST)");
}

Result<runtime::VerifyBytes> TrustArguments::take() const {
  const char* setting = std::getenv("ATTUNE_TRUST");
  const std::string key = key_.empty() && setting != nullptr ? setting : key_;
  if (key.empty()) return runtime::VerifyBytes();
  return signing::verifier(key);
}

}  // namespace attune::cli
