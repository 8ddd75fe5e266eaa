/* Any bytes as timed. */
#define FORMAT "timed"
#include "tests/fuzz/profile_format.h"
