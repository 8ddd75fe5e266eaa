#include "profile/read/folded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Splits a line into stack and count; false with a reason if there is no count. */
static bool split_count(const char *line, size_t len, size_t *ret_stack_len, double *ret_count,
                        const char **ret_why)
{
    size_t end = len, at;
    char digits[64];
    char *rest;

    while (end > 0 && (is_blank(line[end - 1]) || line[end - 1] == '\r'))
        end--;
    at = end;
    while (at > 0 && !is_blank(line[at - 1]))
        at--;
    *ret_why = "a count was expected after the stack";
    if (at == 0 || end - at >= sizeof digits)
        return false;
    memcpy(digits, line + at, end - at);
    digits[end - at] = '\0';
    if (strspn(digits, "0123456789.-") != end - at)
        return false;
    *ret_count = strtod(digits, &rest);
    if (*rest != '\0' || rest == digits)
        return false;
    *ret_why = "a count of 0 to 9e15 was expected";
    if (!(*ret_count >= 0 && *ret_count < 9e15))
        return false;
    while (at > 0 && is_blank(line[at - 1]))
        at--;
    *ret_stack_len = at;
    return true;
}

bool fb_folded_sniff(const void *head, size_t n)
{
    const char *at = head, *end = at + n;

    if (memchr(head, '\0', n))
        return false;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = stop ? (size_t)(stop - at) : (size_t)(end - at), stack_len;
        double count;
        const char *why;

        if (len > 0 && at[0] != '#' && at[0] != '\r')
            return split_count(at, len, &stack_len, &count, &why);
        if (!stop)
            break;
        at = stop + 1;
    }
    return false;
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
    if (n < 3 || name[0] != '[' || name[n - 1] != ']')
        return false;
    if (memmem(name, n, " tid=", 5) || (n > 5 && memcmp(name + 1, "tid=", 4) == 0))
        return true;
    return !is_alone && !memchr(name, '/', n) && !memmem(name, n, ".so", 3) &&
           !(n >= 8 && memcmp(name + 1, "unknown", 7) == 0);
}

static fb_stack_id put_stack(struct fb_profile *p, const char *text, size_t len)
{
    fb_stack_id stack = FB_STACK_ROOT;
    size_t at = 0;

    while (at < len) {
        const char *stop = memchr(text + at, ';', len - at);
        size_t n = stop ? (size_t)(stop - text) - at : len - at, name_len = n;
        struct fb_frame f = {0};

        take_kind(text + at, &name_len, &f);
        if (stack.n == 0 && is_thread_root(text + at, n, !stop))
            f.kind = FB_FRAME_MARK;
        if (n > 0) {
            f.name = fb_strings_put(&p->strings, text + at, name_len);
            stack = fb_profile_stack_put(p, stack, fb_profile_frame_put(p, &f));
        }
        at += n + 1;
    }
    return stack;
}

static void skip_line(struct fb_read_report *report, const char *why)
{
    if (report->skipped_lines++ == 0)
        (void)snprintf(report->first_skipped, sizeof report->first_skipped, "line %llu: %s",
                       (unsigned long long)report->lines, why);
}

enum fb_status fb_folded_read(struct fb_source *in, const struct fb_read_options *options,
                              struct fb_profile **ret_p, struct fb_read_report *ret_report,
                              struct fb_err *err)
{
    struct fb_profile *p;
    const char *text;
    size_t n;
    double carry = 0;
    enum fb_status r = fb_source_all(in, &text, &n, err);

    (void)options;
    if (r != FB_OK)
        return r;
    p = fb_profile_new();
    for (size_t at = 0; at < n;) {
        const char *stop = memchr(text + at, '\n', n - at);
        size_t len = stop ? (size_t)(stop - text) - at : n - at, stack_len;
        double count, whole;
        const char *why;

        ret_report->lines++;
        if (len == 0 || text[at] == '#' || (len == 1 && text[at] == '\r')) {
            /* nothing to take */
        } else if (!split_count(text + at, len, &stack_len, &count, &why)) {
            skip_line(ret_report, why);
        } else {
            whole = nearbyint(count + carry);
            carry += count - whole;
            if (whole > 0) {
                fb_stack_id stack = put_stack(p, text + at, stack_len);

                fb_profile_sample_add(p, 0, FB_NO_THREAD, stack, (uint64_t)whole);
            }
        }
        at += len + 1;
    }
    p->rows_merged = 1;
    p->ended = true;
    if (p->samples.count == 0) {
        fb_profile_free(p);
        return fb_fail(err, FB_EFORMAT, "%s: %s", fb_source_name(in),
                       ret_report->skipped_lines ? ret_report->first_skipped
                                                 : "holds no folded stack ('frame;frame 12')");
    }
    *ret_p = p;
    return FB_OK;
}
