/* Any bytes as perf-data. */
#define FORMAT "perf-data"
#include "tests/fuzz/profile_format.h"
