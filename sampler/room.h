/* room.h - whether the host's limits of address space leave room for us.
 *
 * What we map is taken from RLIMIT_AS and RLIMIT_DATA as if the host had mapped it.  Where that is
 * more than a quarter of what is left, the host keeps it and runs unprofiled. */
#ifndef FB_SAMPLER_ROOM_H
#define FB_SAMPLER_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/* bytes: what we may come to map.  Reads /proc/self/statm where there is a limit. */
bool fb_room_for(size_t bytes);

#endif
