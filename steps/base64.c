#include "steps/base64.h"

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

enum fb_status fb_base64_decode(const char *text, size_t len, struct fb_buf *out,
                                struct fb_err *err)
{
    uint32_t bits = 0;
    size_t digits = 0, padding = 0;

    for (size_t i = 0; i < len; i++) {
        int d = digit(text[i]);

        if (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t')
            continue;
        if (text[i] == '=' && digits % 4 >= 2 && digits % 4 + padding < 4) {
            padding++;
            continue;
        }
        if (d < 0 || padding > 0)
            return fb_fail(err, FB_EFORMAT, "byte 0x%02x at offset %zu is not base64",
                           (unsigned)(unsigned char)text[i], i);
        bits = bits << 6 | (uint32_t)d;
        digits++;
        if (digits % 4 == 2)
            fb_buf_putc(out, (char)(bits >> 4));
        else if (digits % 4 == 3)
            fb_buf_putc(out, (char)(bits >> 2));
        else if (digits % 4 == 0)
            fb_buf_putc(out, (char)bits);
    }
    if (digits % 4 == 1 || (padding > 0 && digits % 4 + padding != 4))
        return fb_fail(err, FB_EFORMAT, "base64 ends inside a group of four after %zu digits",
                       digits);
    return FB_OK;
}
