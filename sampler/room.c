/* room.c - see room.h. */
#include "sampler/room.h"

#include <stdint.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sampler/text.h"

enum { SHARE = 4, SIZE_FIELD = 0, DATA_FIELD = 5 };

static bool room_below(uint64_t limit, uint64_t used_pages, size_t bytes)
{
    uint64_t used = used_pages * (uint64_t)getauxval(AT_PAGESZ);

    return limit == (uint64_t)RLIM_INFINITY || (limit > used && (limit - used) / SHARE >= bytes);
}

bool fb_room_for(size_t bytes)
{
    struct rlimit space = {RLIM_INFINITY, RLIM_INFINITY};
    struct rlimit data = {RLIM_INFINITY, RLIM_INFINITY};
    uint64_t pages[DATA_FIELD + 1] = {0};
    char text[128];
    const char *at = text;

    getrlimit(RLIMIT_AS, &space);
    getrlimit(RLIMIT_DATA, &data);
    if (space.rlim_cur == RLIM_INFINITY && data.rlim_cur == RLIM_INFINITY)
        return true;
    if (fb_file_read("/proc/self/statm", text, sizeof text) < 0)
        return false;
    for (int i = 0; i <= DATA_FIELD; i++) {
        pages[i] = fb_text_number(at, &at);
        at += *at == ' ';
    }
    return room_below(space.rlim_cur, pages[SIZE_FIELD], bytes) &&
           room_below(data.rlim_cur, pages[DATA_FIELD], bytes);
}
