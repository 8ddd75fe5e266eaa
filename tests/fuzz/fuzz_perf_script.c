/* Any bytes as perf-script. */
#define FORMAT "perf-script"
#include "tests/fuzz/profile_format.h"
