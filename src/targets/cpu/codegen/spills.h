// A machine pass that counts the vector-register traffic between innermost loops and the stack,
// for rejecting register tiles that do not fit before anything is timed.
#pragma once

#include <map>
#include <string>

namespace llvm {
class FunctionPass;
}

namespace attune::cpu {

llvm::FunctionPass* make_spill_counter(std::map<std::string, int>& counts);

}  // namespace attune::cpu
