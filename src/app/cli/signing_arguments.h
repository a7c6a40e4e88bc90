// Options about who made an artifact: signing what is written, and trusting what is run.
#pragma once

#include <string>

#include "app/cli/command_line.h"
#include "app/signing/keys.h"
#include "base/result.h"

namespace attune::cli {

class SignArguments {
 public:
  explicit SignArguments(CommandLine& line);
  // Reads the key, so that a wrong one is known before any work; empty when none was given.
  Result<runtime::SignBytes> take() const;

 private:
  std::string key_;
};

class TrustArguments {
 public:
  explicit TrustArguments(CommandLine& line);
  // By the option, else by ATTUNE_TRUST; empty when neither names a key.
  Result<runtime::VerifyBytes> take() const;

 private:
  std::string key_;
};

}  // namespace attune::cli
