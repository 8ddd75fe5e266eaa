/* Any bytes as jfr. */
#define FORMAT "jfr"
#include "tests/fuzz/profile_format.h"
