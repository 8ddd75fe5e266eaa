#include "profile/read/folded_stack.h"

#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A count that is no plain number: with a point, a sign or an exponent. */
static bool odd_count(const char *text, size_t n, double *ret_count, const char **ret_why)
{
    char digits[64], *rest;

    *ret_why = "a count was expected after the stack";
    if (n == 0 || n >= sizeof digits)
        return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    if (strspn(digits, "0123456789.-+eE") != n)
        return false;
    *ret_count = strtod(digits, &rest);
    if (*rest != '\0' || rest == digits)
        return false;
    *ret_why = "a count of 0 to 9e15 was expected";
    return *ret_count >= 0 && *ret_count < 9e15;
}

bool fb_folded_count_cut(const char *line, size_t *len, double *ret_count, const char **ret_why)
{
    size_t end = fb_folded_trim(line, *len), at = end;
    uint64_t value = 0, scale = 1;

    while (at > 0 && (unsigned)(line[at - 1] - '0') < 10 && end - at < 15) {
        value += (uint64_t)(line[at - 1] - '0') * scale;
        scale *= 10;
        at--;
    }
    *ret_count = (double)value;
    if (at == end || (at > 0 && !is_blank(line[at - 1]))) {
        while (at > 0 && !is_blank(line[at - 1]))
            at--;
        if (!odd_count(line + at, end - at, ret_count, ret_why))
            return false;
    }
    *ret_why = "a stack was expected before the count";
    if (at == 0)
        return false;
    while (at > 0 && is_blank(line[at - 1]))
        at--;
    *len = at;
    return true;
}

/* Cuts an annotation off a name and gives what it stands for. */
static void take_kind(const char *name, size_t *len, struct fb_frame *f)
{
    static const struct {
        char letter;
        enum fb_frame_kind kind;
        enum fb_tier tier;
    } rows[] = {{'k', FB_FRAME_KERNEL, FB_TIER_UNKNOWN},
                {'j', FB_FRAME_JIT, FB_TIER_C2},
                {'i', FB_FRAME_INLINED, FB_TIER_UNKNOWN},
                {'0', FB_FRAME_JAVA, FB_TIER_INTERPRETED},
                {'1', FB_FRAME_JAVA, FB_TIER_C1}};

    f->kind = FB_FRAME_NATIVE;
    if (*len < 5 || memcmp(name + *len - 4, "_[", 2) != 0 || name[*len - 1] != ']')
        return;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (name[*len - 2] == rows[i].letter) {
            *len -= 4;
            f->kind = rows[i].kind;
            f->tier = rows[i].tier;
            return;
        }
    }
}

/* "[name tid=12]", and "[name]" where something runs below it: the root is a thread, no code.  A
 * frame that only its module names ("[libc.so.6]", "[unknown]") is code. */
static bool is_thread_root(const char *name, size_t n, bool is_alone)
{
    if (n < 3 || name[0] != '[' || name[n - 1] != ']' ||
        (n > 4 && memcmp(name + n - 4, "_[", 2) == 0))
        return false;
    if (memmem(name, n, " tid=", 5) || (n > 5 && memcmp(name + 1, "tid=", 4) == 0))
        return true;
    return !is_alone && !memchr(name, '/', n) && !memmem(name, n, ".so", 3) &&
           !(n >= 8 && memcmp(name + 1, "unknown", 7) == 0);
}

static fb_frame_id put_frame(struct fb_profile *p, const char *name, size_t n, bool is_root)
{
    struct fb_frame f = {0};

    take_kind(name, &n, &f);
    if (is_root)
        f.kind = FB_FRAME_MARK;
    f.name = fb_strings_put(&p->strings, name, n);
    return fb_profile_frame_put(p, &f);
}

/* How many bytes two texts begin with alike. */
static size_t alike(const char *a, const char *b, size_t most)
{
    size_t n = 0;

    while (n + sizeof(uint64_t) <= most) {
        uint64_t x, y;

        memcpy(&x, a + n, sizeof x);
        memcpy(&y, b + n, sizeof y);
        if (x != y)
            break;
        n += sizeof x;
    }
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* Takes the frames that the line before has too: where the next one begins, and its parent. */
static size_t way_begin(struct fb_folded_way *way, const char *text, size_t len,
                        fb_stack_id *ret_stack)
{
    size_t common = alike(way->text, text, len < way->len ? len : way->len), kept = 0;

    while (kept < way->count && way->at[kept].end <= common)
        kept++;
    way->text = text;
    way->len = len;
    way->count = kept;
    *ret_stack = kept > 0 ? way->at[kept - 1].stack : FB_STACK_ROOT;
    return kept > 0 ? way->at[kept - 1].end : 0;
}

fb_stack_id fb_folded_stack_put(struct fb_profile *p, struct fb_name_cache *frames,
                                struct fb_folded_way *way, const char *text, size_t len)
{
    fb_stack_id stack;

    for (size_t at = way_begin(way, text, len, &stack); at < len;) {
        const char *name = text + at, *stop = memchr(name, ';', len - at);
        size_t n = stop ? (size_t)(stop - name) : len - at;

        at += n + 1;
        if (n > 0 && stack.n == 0 && is_thread_root(name, n, !stop)) {
            stack = fb_profile_stack_put(p, stack, put_frame(p, name, n, true));
        } else if (n > 0) {
            struct fb_name_slot *slot = fb_name_cache_at(frames, 0, name, n);

            if (slot->value == 0)
                slot->value = put_frame(p, name, n, false).n;
            stack = fb_profile_stack_put(p, stack, (fb_frame_id){slot->value});
        }
        if (stop && way->count < FB_FOLDED_WAY_MOST) {
            way->at[way->count].end = at;
            way->at[way->count++].stack = stack;
        }
    }
    return stack;
}
