#include "render/width.h"

#include "base/utf8.h"

struct range {
    uint32_t first, last;
};

static const struct range zero_wide[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
    {0x06d6, 0x06dc}, {0x0900, 0x0902}, {0x093c, 0x093c}, {0x0941, 0x0948}, {0x0e31, 0x0e31},
    {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200d},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
};

static const struct range double_wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x2e80, 0x303e},
    {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},
    {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
    {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
    {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};

/* Invisible, or able to reorder what stands around them. */
static const struct range deceptive[] = {
    {0x061c, 0x061c}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfff9, 0xfffb},
};

static bool is_in(uint32_t code, const struct range *ranges, size_t count)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (code > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && code >= ranges[low].first;
}

#define IS_IN(code, ranges) is_in(code, ranges, sizeof(ranges) / sizeof(ranges)[0])

size_t fb_width_of_code(uint32_t code)
{
    if (code < 0x300)
        return 1;
    if (IS_IN(code, zero_wide))
        return 0;
    return IS_IN(code, double_wide) ? 2 : 1;
}

uint32_t fb_width_visible(uint32_t code)
{
    if (code < 0x20)
        return 0x2400 + code;
    if (code < 0x7f)
        return code;
    if (code == 0x7f)
        return 0x2421;
    if (code < 0xa0 || (code & 0xfffe) == 0xfffe || IS_IN(code, deceptive))
        return 0xfffd;
    return code;
}

size_t fb_width(const char *text, size_t len)
{
    size_t at = 0, columns = 0;

    while (at < len)
        columns += fb_width_of_code(fb_width_visible(fb_utf8_next(text, len, &at)));
    return columns;
}

void fb_utf8_put(struct fb_buf *out, uint32_t code)
{
    char bytes[4];
    size_t n = 0;

    if (code < 0x80) {
        bytes[n++] = (char)code;
    } else if (code < 0x800) {
        bytes[n++] = (char)(0xc0 | code >> 6);
        bytes[n++] = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        bytes[n++] = (char)(0xe0 | code >> 12);
        bytes[n++] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[n++] = (char)(0x80 | (code & 0x3f));
    } else {
        bytes[n++] = (char)(0xf0 | code >> 18);
        bytes[n++] = (char)(0x80 | (code >> 12 & 0x3f));
        bytes[n++] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[n++] = (char)(0x80 | (code & 0x3f));
    }
    fb_buf_add(out, bytes, n);
}

size_t fb_width_put(struct fb_buf *out, const char *text, size_t len, size_t columns)
{
    bool is_cut = fb_width(text, len) > columns;
    size_t room = is_cut && columns > 0 ? columns - 1 : columns;
    size_t at = 0, used = 0;

    while (at < len) {
        uint32_t code = fb_width_visible(fb_utf8_next(text, len, &at));
        size_t width = fb_width_of_code(code);

        if (used + width > room)
            break;
        fb_utf8_put(out, code);
        used += width;
    }
    if (is_cut && columns > 0) {
        fb_utf8_put(out, 0x2026);
        used++;
    }
    return used;
}
