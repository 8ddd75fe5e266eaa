/* Any bytes as pprof. */
#define FORMAT "pprof"
#include "tests/fuzz/profile_format.h"
