#include "app/cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

namespace attune::cli {
namespace {

// A signal handler has no other way to reach its data than through the process.
std::atomic<bool> stop_requested{false};
std::atomic<int> signal_number{0};

void note_signal(int number) {
  if (stop_requested.exchange(true)) ::_exit(128 + number);
  signal_number = number;
}

void handle_with(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (int number : {SIGINT, SIGTERM}) ::sigaction(number, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  stop_requested = false;
  signal_number = 0;
  handle_with(note_signal);
}

Interrupt::~Interrupt() { handle_with(SIG_DFL); }

const std::atomic<bool>& Interrupt::requested() const { return stop_requested; }

int Interrupt::exit_status() const { return signal_number == 0 ? 0 : 128 + signal_number; }

}  // namespace attune::cli
