// A kernel that reaches functions and data through addresses which the loader fills in: its own
// functions in a table, exported ones through slots, data through a pointer and a global table.
#include "runtime/execution/kernel_abi.h"

static int32_t three(void) { return 3; }
static int32_t four(void) { return 4; }
static int32_t (*const volatile table[])(void) = {three, four};

int32_t number = 5;
int32_t* place_of_number = &number;
int32_t seven(void) { return 7; }
int32_t zeroed[1000];

int32_t sum(const AttuneKernelContext* context, void* const* buffers) {
  (void)context;
  (void)buffers;
  zeroed[999] += 1;
  return table[0]() + table[1]() + number + *place_of_number + seven() + zeroed[999];
}
