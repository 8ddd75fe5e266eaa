#include "profile/read/folded.h"

#include <string.h>

#include "profile/read/folded_stack.h"
#include "profile/read/json_kind.h"
#include "profile/read/text.h"

enum { SNIFF_LINES = 100 };

enum which { WHICH_COUNT, WHICH_BEFORE, WHICH_AFTER };

struct state {
    struct fb_name_cache frames;
    struct fb_folded_way way;
};

/* The line that begins at *at, without blanks at either end; *at is moved behind its newline. */
static const char *next_line(const char *text, size_t n, size_t *at, size_t *ret_len)
{
    const char *line = text + *at, *stop = memchr(line, '\n', n - *at);
    const char *end = stop ? stop : text + n;

    *at = (size_t)(end - text) + 1;
    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    *ret_len = fb_folded_trim(line, (size_t)(end - line));
    return line;
}

/* Nothing, or a comment; an indented '#' begins a name. */
static bool is_empty(const char *text, const char *line, size_t len)
{
    return len == 0 || (line[0] == '#' && (line == text || line[-1] == '\n'));
}

/* The first line has a count, or most of the first lines have one, and one of those a ';': what
 * other tools write above their stacks is not always a comment. */
bool fb_folded_sniff(const void *head, size_t n)
{
    const char *text = head;
    size_t lines = 0, counts = 0, paths = 0;

    if (memchr(head, '\0', n))
        return false;
    for (size_t at = 0; at < n && lines < SNIFF_LINES;) {
        size_t len;
        const char *line = next_line(text, n, &at, &len), *why;
        double count;

        if (is_empty(text, line, len))
            continue;
        if (at > n && n == FB_SNIFF_BYTES && lines == 0) /* a line that is longer than the head */
            return memchr(line, ';', len) != NULL && !fb_json_looks_so(head, n);
        lines++;
        if (!fb_folded_count_cut(line, &len, &count, &why))
            continue;
        if (lines == 1)
            return true;
        counts++;
        paths += memchr(line, ';', len) != NULL;
    }
    return paths > 0 && counts * 2 > lines;
}

/* Whether every line of the head ends in two counts. */
static bool is_differential(const char *text, size_t n)
{
    size_t lines = 0;

    for (size_t at = 0; at < n;) {
        size_t len;
        const char *line = next_line(text, n, &at, &len), *why;
        double count;

        if (is_empty(text, line, len))
            continue;
        if (at > n && n == FB_SNIFF_BYTES)
            break;
        if (!fb_folded_count_cut(line, &len, &count, &why))
            continue;
        if (!fb_folded_count_cut(line, &len, &count, &why))
            return false;
        lines++;
    }
    return lines > 0;
}

static enum fb_status choose(struct fb_source *in, const char *type, enum which *ret_which,
                             struct fb_err *err)
{
    const char *head;
    size_t n;
    enum fb_status r = fb_source_head(in, FB_SNIFF_BYTES, &head, &n, err);
    bool is_two = r == FB_OK && is_differential(head, n);

    *ret_which = WHICH_COUNT;
    if (r != FB_OK || (type && strcmp(type, "count") == 0) || (!type && !is_two))
        return r;
    if (!is_two)
        return fb_fail(err, FB_EFORMAT, "%s: has no samples of type '%s', it has count",
                       fb_source_name(in), type);
    if (type && strcmp(type, "before") == 0)
        *ret_which = WHICH_BEFORE;
    else if (type && strcmp(type, "after") == 0)
        *ret_which = WHICH_AFTER;
    else
        return fb_fail(err, FB_EFORMAT,
                       "%s: has two counts a line, one was expected by --type: before, after (or "
                       "count: the names end in numbers)",
                       fb_source_name(in));
    return FB_OK;
}

static void take_line(struct fb_text_part *part, const char *line, size_t len)
{
    struct state *state = part->state;
    enum which which = *(const enum which *)part->arg;
    double count, before = 0;
    const char *why;

    if (!fb_folded_count_cut(line, &len, &count, &why)) {
        fb_text_skip(part, why);
        return;
    }
    if (which != WHICH_COUNT && !fb_folded_count_cut(line, &len, &before, &why)) {
        fb_text_skip(part, "two counts were expected after the stack, as before it");
        return;
    }
    if (which == WHICH_BEFORE)
        count = before;
    if (count > 0)
        fb_text_sample_add(part, true, 0, FB_NO_THREAD,
                           fb_folded_stack_put(part->p, &state->frames, &state->way, line, len),
                           count);
}

static void take(struct fb_text_part *part, const char *text, size_t n)
{
    struct state *state = part->state;

    state->way = (struct fb_folded_way){0};
    for (size_t at = 0; at < n;) {
        size_t len;
        const char *line = next_line(text, n, &at, &len);

        part->lines++;
        if (!is_empty(text, line, len))
            take_line(part, line, len);
    }
}

static void state_done(void *arg)
{
    struct state *state = arg;

    fb_name_cache_done(&state->frames);
}

static const struct fb_text_format format = {.state_bytes = sizeof(struct state),
                                             .cut = fb_cut_lines,
                                             .merges_rows = true,
                                             .take = take,
                                             .done = state_done};

enum fb_status fb_folded_read(struct fb_source *in, const struct fb_read_options *options,
                              struct fb_profile **ret_p, struct fb_read_report *ret_report,
                              struct fb_err *err)
{
    static const char *const types[] = {NULL, "before", "after"};
    enum which which;
    struct fb_text text;
    enum fb_status r = choose(in, options->type, &which, err);

    if (r == FB_OK)
        r = fb_text_read(in, &format, &which, options->jobs, &text, err);
    if (r != FB_OK)
        return r;
    fb_text_report(&text, ret_report);
    text.p->rows_merged = 1;
    text.p->ended = true;
    if (types[which])
        text.p->type = fb_strings_put_z(&text.p->strings, types[which]);
    r = fb_text_check(&text, in, "holds no folded stack ('frame;frame 12')", ret_p, err);
    fb_text_done(&text);
    return r;
}
