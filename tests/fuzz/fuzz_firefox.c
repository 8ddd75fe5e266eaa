/* Any bytes as firefox. */
#define FORMAT "firefox"
#include "tests/fuzz/profile_format.h"
