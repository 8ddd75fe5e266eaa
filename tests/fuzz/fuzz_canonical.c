/* Any bytes as a raw name: the canonical form of a canonical form is itself. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct fb_buf once = {0}, twice = {0};
    enum fb_frame_kind kind;

    if (n < 2)
        return 0;
    kind = (enum fb_frame_kind)(bytes[0] % FB_FRAME_KIND_COUNT);
    fb_name_canonical((const char *)bytes + 1, n - 1, kind, &once);
    fb_name_canonical(once.data, once.len, kind, &twice);
    if (once.len == 0 || once.len != twice.len || memcmp(once.data, twice.data, once.len) != 0)
        abort();
    fb_buf_done(&once);
    fb_buf_done(&twice);
    return 0;
}
