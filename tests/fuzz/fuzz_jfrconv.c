/* Any bytes as a flame graph of async-profiler. */
#define FORMAT "jfrconv"
#include "tests/fuzz/profile_format.h"
