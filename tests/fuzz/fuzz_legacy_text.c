/* Any bytes as gperftools-text. */
#define FORMAT "gperftools-text"
#include "tests/fuzz/profile_format.h"
