/* Any bytes as trace events. */
#define FORMAT "trace-event"
#include "tests/fuzz/profile_format.h"
