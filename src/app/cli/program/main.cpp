#include <string>
#include <vector>

#include "app/cli/verbs.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  return attune::cli::run_program(words);
}
