#include "profile/read/timed.h"

#include <string.h>

#include "profile/read/folded_stack.h"
#include "profile/read/text.h"

struct state {
    struct fb_name_cache frames;
    struct fb_folded_way way;
    bool has_times;
};

/* The four fields of a line. */
struct row {
    int64_t time_ns;
    const char *thread, *stack;
    size_t thread_len, stack_len;
    double weight;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Milliseconds with decimals, up to the tab at `end`. */
static bool take_time(const char *at, const char *end, int64_t *ret_ns)
{
    int64_t ms = 0, ns = 0, scale = 1000000;
    const char *start = at;

    for (; at < end && is_digit(*at) && at - start < 13; at++)
        ms = ms * 10 + (*at - '0');
    if (at == start || ms > 9000000000000)
        return false;
    if (at < end && *at == '.') {
        for (at++; at < end && is_digit(*at); at++) {
            scale /= 10;
            ns += (*at - '0') * scale;
        }
    }
    *ret_ns = ms * 1000000 + ns;
    return at == end;
}

/* The end of the field that begins at `at`: its tab, or the end of the line. */
static const char *field_end(const char *at, const char *end)
{
    const char *tab = memchr(at, '\t', (size_t)(end - at));

    return tab ? tab : end;
}

static bool split(const char *line, size_t len, struct row *ret_row, const char **ret_why)
{
    const char *end = line + len, *tab = field_end(line, end), *next;

    *ret_why = "a time in milliseconds and a tab were expected";
    if (tab == end || !take_time(line, tab, &ret_row->time_ns))
        return false;
    ret_row->thread = tab + 1;
    next = field_end(tab + 1, end);
    ret_row->thread_len = (size_t)(next - ret_row->thread);
    *ret_why = "a thread and a tab were expected after the time";
    if (next == end)
        return false;
    ret_row->stack = next + 1;
    tab = field_end(next + 1, end);
    ret_row->stack_len = (size_t)(tab - ret_row->stack);
    ret_row->weight = 1;
    if (tab == end)
        return true;
    len = (size_t)(end - ret_row->stack);
    if (!fb_folded_count_cut(ret_row->stack, &len, &ret_row->weight, ret_why))
        return false;
    *ret_why = "a stack, a tab and a weight were expected";
    return len <= ret_row->stack_len;
}

/* "worker tid=12" and "tid=12" have an id. */
static uint32_t put_thread(struct fb_text_part *part, const char *name, size_t len)
{
    static const char mark[] = "tid=";
    size_t digits = len;
    uint64_t tid = 0;

    while (digits > 0 && is_digit(name[digits - 1]) && len - digits < 10)
        digits--;
    if (digits == len || digits < 4 || memcmp(name + digits - 4, mark, 4) != 0 ||
        (digits > 4 && name[digits - 5] != ' '))
        return len == 0 ? FB_NO_THREAD : fb_text_thread_put(part, 0, 0, name, len);
    for (size_t i = digits; i < len; i++)
        tid = tid * 10 + (uint64_t)(name[i] - '0');
    return fb_text_thread_put(part, 0, (uint32_t)tid, name, digits > 4 ? digits - 5 : 0);
}

static void take_line(struct fb_text_part *part, const char *line, size_t len)
{
    struct state *state = part->state;
    struct row row;
    const char *why;
    uint32_t thread;

    if (!split(line, len, &row, &why)) {
        fb_text_skip(part, why);
        return;
    }
    if (!(row.weight > 0))
        return;
    thread = put_thread(part, row.thread, row.thread_len);
    state->has_times = state->has_times || row.time_ns != 0;
    fb_text_sample_add(
        part, false, row.time_ns, thread,
        fb_folded_stack_put(part->p, &state->frames, &state->way, row.stack, row.stack_len),
        row.weight);
}

static void take(struct fb_text_part *part, const char *text, size_t n)
{
    struct state *state = part->state;

    state->way = (struct fb_folded_way){0};
    for (size_t at = 0; at < n;) {
        const char *line = text + at, *stop = memchr(line, '\n', n - at);
        size_t len = stop ? (size_t)(stop - line) : n - at;

        at += len + 1;
        part->lines++;
        if (len > 0 && line[len - 1] == '\r')
            len--;
        if (len > 0 && line[0] != '#')
            take_line(part, line, len);
    }
}

static void state_done(void *arg)
{
    struct state *state = arg;

    fb_name_cache_done(&state->frames);
}

static const struct fb_text_format format = {
    .state_bytes = sizeof(struct state), .cut = fb_cut_lines, .take = take, .done = state_done};

bool fb_timed_sniff(const void *head, size_t n)
{
    const char *text = head, *why;
    struct row row;

    if (memchr(head, '\0', n))
        return false;
    for (size_t at = 0; at < n;) {
        const char *line = text + at, *stop = memchr(line, '\n', n - at);
        size_t len = stop ? (size_t)(stop - line) : n - at;

        at += len + 1;
        if (len > 0 && line[len - 1] == '\r')
            len--;
        if (len > 0 && line[0] != '#')
            return split(line, len, &row, &why);
    }
    return false;
}

enum fb_status fb_timed_read(struct fb_source *in, const struct fb_read_options *options,
                             struct fb_profile **ret_p, struct fb_read_report *ret_report,
                             struct fb_err *err)
{
    struct fb_text text;
    enum fb_status r;

    if (options->type)
        return fb_fail(err, FB_EFORMAT, "%s: has no samples of type '%s', it has one type only",
                       fb_source_name(in), options->type);
    r = fb_text_read(in, &format, NULL, options->jobs, &text, err);
    if (r != FB_OK)
        return r;
    fb_text_report(&text, ret_report);
    for (size_t i = 0; i < text.parts_count; i++)
        text.p->has_times |= ((const struct state *)text.parts[i].state)->has_times;
    text.p->ended = true;
    fb_profile_span_update(text.p);
    r = fb_text_check(&text, in, "holds no sample ('epoch_ms TAB thread TAB root;leaf')", ret_p,
                      err);
    fb_text_done(&text);
    return r;
}
