#include "profile/read/dtrace.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "profile/read/name_cache.h"
#include "profile/read/text.h"

struct symbol {
    const char *text; /* without offset; kept by the cache */
    size_t len;
};

struct state {
    struct fb_name_cache names;
    struct symbol *symbols; /* [0] is none */
    size_t count, room;
    uint32_t *stack; /* of the block at hand, leaf first: symbols */
    size_t depth, stack_room;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

/* The line that begins at *at, without blanks at either end. */
static const char *next_line(const char *text, size_t n, size_t *at, size_t *ret_len)
{
    const char *line = text + *at, *stop = memchr(line, '\n', n - *at);
    const char *end = stop ? stop : text + n;

    *at = (size_t)(end - text) + 1;
    while (line < end && is_blank(*line))
        line++;
    while (end > line && is_blank(end[-1]))
        end--;
    *ret_len = (size_t)(end - line);
    return line;
}

static bool is_count(const char *line, size_t len, double *ret_count)
{
    double count = 0;

    for (size_t i = 0; i < len; i++) {
        if (!is_digit(line[i]))
            return false;
        count = count * 10 + (line[i] - '0');
    }
    *ret_count = count;
    return len > 0 && len < 16;
}

static size_t without_offset(const char *name, size_t len)
{
    size_t at = len;

    while (at > 0 && is_hex(name[at - 1]))
        at--;
    return at < len && at > 3 && memcmp(name + at - 3, "+0x", 3) == 0 ? at - 3 : len;
}

static void push(struct state *state, const char *name, size_t len)
{
    struct fb_name_slot *slot = fb_name_cache_at(&state->names, 0, name, len);

    if (slot->value == 0) {
        if (state->count == 0)
            state->count = 1;
        fb_vec_reserve(&state->symbols, &state->room, state->count + 1, sizeof *state->symbols);
        state->symbols[state->count] = (struct symbol){slot->text, len};
        slot->value = (uint32_t)state->count++;
    }
    fb_vec_reserve(&state->stack, &state->stack_room, state->depth + 1, sizeof *state->stack);
    state->stack[state->depth++] = slot->value;
}

/* The "->" between two functions; not that of operator->. */
static const char *arrow_in(const char *text, size_t len)
{
    const char *at = memmem(text, len, "->", 2);

    while (at && ((at - text >= 8 && memcmp(at - 8, "operator", 8) == 0) || at == text ||
                  at + 2 == text + len || is_blank(at[-1]) || is_blank(at[2])))
        at = memmem(at + 2, (size_t)(text + len - at) - 2, "->", 2);
    return at;
}

static fb_stack_id put_symbol(struct fb_text_part *part, fb_stack_id stack, const struct symbol *s)
{
    const char *text = s->text, *end = s->text + s->len;
    const char *tick = memchr(text, '`', s->len);
    struct fb_frame f = {.kind = FB_FRAME_NATIVE};

    if (tick)
        f.module = fb_text_module_put(part, text, (size_t)(tick - text));
    while (text < end) {
        const char *arrow = arrow_in(text, (size_t)(end - text)), *stop = arrow ? arrow : end;

        f.name = fb_strings_put(&part->p->strings, text, (size_t)(stop - text));
        stack = fb_profile_stack_put(part->p, stack, fb_profile_frame_put(part->p, &f));
        f.kind = FB_FRAME_INLINED;
        text = arrow ? arrow + 2 : end;
    }
    return stack;
}

static void take(struct fb_text_part *part, const char *text, size_t n)
{
    struct state *state = part->state;

    state->depth = 0;
    for (size_t at = 0; at < n;) {
        size_t len;
        const char *line = next_line(text, n, &at, &len);
        double count;

        part->lines++;
        if (len == 0) {
            state->depth = 0;
        } else if (!is_count(line, len, &count)) {
            push(state, line, without_offset(line, len));
        } else if (state->depth == 0) {
            fb_text_skip(part, "frames were expected before their count");
        } else {
            fb_stack_id stack = FB_STACK_ROOT;

            if (count == 0)
                state->depth = 0;
            while (state->depth > 0)
                stack = put_symbol(part, stack, &state->symbols[state->stack[--state->depth]]);
            if (count > 0)
                fb_text_sample_add(part, true, 0, FB_NO_THREAD, stack, count);
        }
    }
}

/* Behind the last line that is a count. */
static size_t cut(const char *text, size_t n)
{
    const char *end = memrchr(text, '\n', n);

    while (end && end > text) {
        const char *before = memrchr(text, '\n', (size_t)(end - text));
        size_t at = before ? (size_t)(before - text) + 1 : 0, len;
        const char *line = next_line(text, (size_t)(end - text), &at, &len);
        double count;

        if (is_count(line, len, &count))
            return (size_t)(end - text) + 1;
        end = before;
    }
    return 0;
}

static void state_done(void *arg)
{
    struct state *state = arg;

    fb_name_cache_done(&state->names);
    free(state->symbols);
    free(state->stack);
}

static const struct fb_text_format format = {.state_bytes = sizeof(struct state),
                                             .cut = cut,
                                             .merges_rows = true,
                                             .take = take,
                                             .done = state_done};

/* A block of indented frames, one of which has a module or is an address, with its count. */
bool fb_dtrace_sniff(const void *head, size_t n)
{
    const char *text = head;
    size_t frames = 0, marked = 0;

    if (memchr(head, '\0', n))
        return false;
    for (size_t at = 0; at < n;) {
        size_t start = at, len;
        const char *line = next_line(text, n, &at, &len);
        bool is_indented = line > text + start;
        double count;

        if (len > 0 && is_indented && frames > 0 && is_count(line, len, &count))
            return marked > 0;
        if (len == 0 || !is_indented) {
            frames = marked = 0;
            continue;
        }
        frames++;
        marked += memchr(line, '`', len) || (len > 2 && memcmp(line, "0x", 2) == 0);
    }
    return false;
}

enum fb_status fb_dtrace_read(struct fb_source *in, const struct fb_read_options *options,
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
    text.p->rows_merged = 1;
    text.p->ended = true;
    r = fb_text_check(&text, in, "holds no stack with a count, as DTrace prints them", ret_p, err);
    fb_text_done(&text);
    return r;
}
