/* Any bytes as cpuprofile. */
#define FORMAT "cpuprofile"
#include "tests/fuzz/profile_format.h"
