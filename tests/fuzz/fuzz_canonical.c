/* Any bytes as a raw name, by any set of the rules: the canonical form of a canonical form is
 * itself, and says which rules made it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(const char *raw, size_t n, enum fb_frame_kind kind, fb_name_rules set)
{
    struct fb_buf once = {0}, twice = {0}, attributes = {0};
    fb_name_rules fired = fb_name_canonical_by(set, raw, n, kind, &once);

    if ((fired & ~set) != 0 || (fired == 0) != (once.len == n && memcmp(once.data, raw, n) == 0))
        abort();
    if (fb_name_canonical_by(set, once.data, once.len, kind, &twice) != 0 || once.len == 0 ||
        once.len != twice.len || memcmp(once.data, twice.data, once.len) != 0)
        abort();
    fb_name_attributes(raw, n, fired, &attributes);
    fb_buf_done(&attributes);
    fb_buf_done(&once);
    fb_buf_done(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    enum fb_frame_kind kind;
    fb_name_rules set;

    if (n < 10)
        return 0;
    kind = (enum fb_frame_kind)(bytes[0] % FB_FRAME_KIND_COUNT);
    memcpy(&set, bytes + 1, sizeof set);
    check((const char *)bytes + 9, n - 9, kind, FB_NAME_RULES_ALL);
    check((const char *)bytes + 9, n - 9, kind, set);
    return 0;
}
