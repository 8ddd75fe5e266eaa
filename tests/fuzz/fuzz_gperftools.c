/* Any bytes as gperftools. */
#define FORMAT "gperftools"
#include "tests/fuzz/profile_format.h"
