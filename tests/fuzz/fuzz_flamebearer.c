/* Any bytes as flamebearer. */
#define FORMAT "flamebearer"
#include "tests/fuzz/profile_format.h"
