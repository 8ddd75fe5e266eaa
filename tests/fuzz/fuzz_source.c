/* Any bytes as an input, packed or not: blocks of lines are what the whole is, however large they
 * are and whatever was looked at before. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static enum fb_status by_blocks(const uint8_t *data, size_t n, struct fb_buf *out,
                                struct fb_err *err)
{
    struct fb_source *s = fb_source_of_bytes(data, n, "fuzz");
    size_t size = n > 0 ? 1 + data[n - 1] * 3u : 64, have;
    struct fb_block block = {0};
    const char *head;
    enum fb_status r = fb_source_head(s, size / 3, &head, &have, err);

    while (r == FB_OK) {
        r = fb_source_block(s, size, fb_cut_lines, &block, err);
        if (r != FB_OK || block.len == 0)
            break;
        if (block.text[block.len] != '\0')
            abort();
        fb_buf_add(out, block.text, block.len);
    }
    fb_block_done(&block);
    fb_source_close(s);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fb_source *s = fb_source_of_bytes(data, n, "fuzz");
    struct fb_buf out = {0};
    struct fb_err err;
    const char *all;
    size_t len;
    enum fb_status r = fb_source_all(s, &all, &len, &err);

    if (by_blocks(data, n, &out, &err) != r)
        abort();
    if (r == FB_OK && (out.len != len || (len > 0 && memcmp(out.data, all, len) != 0)))
        abort();
    fb_buf_done(&out);
    fb_source_close(s);
    return 0;
}
