/* Any bytes as dtrace. */
#define FORMAT "dtrace"
#include "tests/fuzz/profile_format.h"
