/* Any bytes as speedscope. */
#define FORMAT "speedscope"
#include "tests/fuzz/profile_format.h"
