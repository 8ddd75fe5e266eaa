#include "profile/read/jfrconv.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/vec.h"

enum { LEVELS_MOST = 1 << 16, NUMBERS_MOST = 8, TYPES = 7 };

struct box { /* that is open */
    fb_stack_id stack;
    uint64_t rest; /* of its width, without children so far */
};

struct page {
    struct fb_profile *p;
    const char *name; /* of the file */
    uint32_t *names;  /* strings of p */
    size_t names_count, names_room;
    struct box *open;
    size_t depth, room;
    uint64_t level, width; /* of the last box */
    struct fb_buf text;    /* a name without its escapes */
    size_t line;
};

struct line {
    const char *at, *end;
};

static const char pool_start[] = "cpool = [";

bool fb_jfrconv_sniff(const void *head, size_t n)
{
    const char *text = head;

    return n > 20 && (text[0] == '<' || text[0] == '\n') && memmem(text, n, "<html", 5) &&
           (memmem(text, n, pool_start, sizeof pool_start - 1) || memmem(text, n, "\nf(0,0,", 7));
}

static enum fb_status wrong(const struct page *g, const char *what, struct fb_err *err)
{
    return fb_fail(err, FB_EFORMAT, "%s: line %zu: %s", g->name, g->line, what);
}

/* ---- texts and numbers of JavaScript ---- */

/* 'text' with \' and \\ undone into g->text; at behind it.  False where there is none. */
static bool take_text(struct page *g, struct line *l)
{
    const char *at = l->at;

    if (at == l->end || *at != '\'')
        return false;
    g->text.len = 0;
    for (at++; at < l->end && *at != '\''; at++) {
        if (*at == '\\' && at + 1 < l->end)
            at++;
        fb_buf_putc(&g->text, *at);
    }
    if (at == l->end)
        return false;
    l->at = at + 1;
    return true;
}

/* Numbers between commas up to ')' or a text; at the byte that is none.  The count. */
static size_t take_numbers(struct line *l, uint64_t *numbers)
{
    size_t n = 0;

    while (n < NUMBERS_MOST && l->at < l->end && *l->at >= '0' && *l->at <= '9') {
        uint64_t v = 0;

        for (; l->at < l->end && *l->at >= '0' && *l->at <= '9'; l->at++)
            v = v < (uint64_t)1 << 52 ? v * 10 + (uint64_t)(*l->at - '0') : v;
        numbers[n++] = v;
        if (l->at < l->end && *l->at == ',')
            l->at++;
    }
    return n;
}

/* ---- names ---- */

/* How many bytes the first `units` UTF-16 units of a text take. */
static size_t units_len(const char *text, size_t len, size_t units)
{
    size_t at = 0;

    while (at < len && units > 0) {
        size_t next = at;
        uint32_t c = fb_utf8_next(text, len, &next);

        units -= c > 0xffff && units > 1 ? 2 : 1;
        at = next;
    }
    return at;
}

static void put_name(struct page *g)
{
    struct fb_buf whole = {0};

    if (g->names_count == 0) { /* the first is not packed */
        fb_buf_add(&whole, g->text.data ? g->text.data : "", g->text.len);
    } else if (g->text.len > 0) {
        const struct fb_string *last = &g->p->strings.items[g->names[g->names_count - 1]];
        unsigned char shared = (unsigned char)g->text.data[0];

        fb_buf_add(&whole, last->text,
                   units_len(last->text, last->len, shared >= ' ' ? shared - (size_t)' ' : 0));
        fb_buf_add(&whole, g->text.data + 1, g->text.len - 1);
    }
    fb_vec_reserve(&g->names, &g->names_room, g->names_count + 1, sizeof *g->names);
    g->names[g->names_count++] =
        fb_strings_put(&g->p->strings, whole.data ? whole.data : "", whole.len);
    fb_buf_done(&whole);
}

/* ---- boxes ---- */

static fb_frame_id frame_of(struct page *g, uint32_t name, unsigned type)
{
    static const struct {
        enum fb_frame_kind kind;
        enum fb_tier tier;
    } types[TYPES] = {{FB_FRAME_JAVA, FB_TIER_INTERPRETED}, {FB_FRAME_JIT, FB_TIER_C2},
                      {FB_FRAME_INLINED, FB_TIER_UNKNOWN},  {FB_FRAME_NATIVE, FB_TIER_UNKNOWN},
                      {FB_FRAME_NATIVE, FB_TIER_UNKNOWN},   {FB_FRAME_KERNEL, FB_TIER_UNKNOWN},
                      {FB_FRAME_JAVA, FB_TIER_C1}};
    struct fb_frame frame = {.kind = types[type].kind, .tier = types[type].tier, .name = name};

    return fb_profile_frame_put(g->p, &frame);
}

static void close_to(struct page *g, size_t depth)
{
    while (g->depth > depth) {
        const struct box *b = &g->open[--g->depth];

        if (b->rest > 0)
            fb_profile_sample_add(g->p, 0, FB_NO_THREAD, b->stack, b->rest);
    }
}

static enum fb_status put_box(struct page *g, uint64_t level, uint64_t width, uint32_t name,
                              unsigned type, struct fb_err *err)
{
    struct box box = {FB_STACK_ROOT, width};

    if (level > g->depth || level > LEVELS_MOST)
        return wrong(g, "a box has no box below it", err);
    if (type >= TYPES)
        return wrong(g, "a box of type 0 to 6 was expected", err);
    close_to(g, (size_t)level);
    if (level > 0) { /* the box of level 0 is all, and no frame */
        struct box *parent = &g->open[level - 1];

        if (width > parent->rest)
            return wrong(g, "boxes are wider than the box that they are on", err);
        parent->rest -= width;
        box.stack = fb_profile_stack_put(g->p, parent->stack, frame_of(g, name, type));
    }
    fb_vec_reserve(&g->open, &g->room, g->depth + 1, sizeof *g->open);
    g->open[g->depth++] = box;
    g->level = level;
    g->width = width;
    return FB_OK;
}

/* A call of today's pages: its letter, and its numbers. */
static enum fb_status take_call(struct page *g, char letter, const uint64_t *v, size_t n,
                                struct fb_err *err)
{
    size_t width_at = letter == 'f' ? 3 : 1;
    uint64_t level = letter == 'f' ? (n > 1 ? v[1] : 0) : g->level + (letter == 'u');
    uint64_t width = n > width_at && v[width_at] > 0 ? v[width_at] : g->width;

    if (n < (letter == 'f' ? 3u : 1u))
        return wrong(g, "a box without its numbers", err);
    if (v[0] / 8 >= g->names_count)
        return wrong(g, "a box of a name that is not in the pool", err);
    return put_box(g, level, width, g->names[v[0] / 8], (unsigned)(v[0] % 8), err);
}

/* f( u( n(, maybe behind "d=5;" of a difference; all other lines are of the page. */
static enum fb_status take_line(struct page *g, struct line l, struct fb_err *err)
{
    uint64_t v[NUMBERS_MOST];
    size_t n;
    char letter;

    if (l.end - l.at > 2 && l.at[0] == 'd' && l.at[1] == '=') {
        while (l.at < l.end && *l.at != ',' && *l.at != ';')
            l.at++;
        l.at += l.at < l.end;
    }
    if (l.end - l.at < 4 || l.at[1] != '(' || !strchr("fun", l.at[0]) || l.at[2] < '0' ||
        l.at[2] > '9')
        return FB_OK;
    letter = l.at[0];
    l.at += 2;
    n = take_numbers(&l, v);
    if (l.at == l.end)
        return wrong(g, "the page ends within a box", err);
    if (*l.at != '\'')
        return take_call(g, letter, v, n, err);
    if (letter != 'f' || n != 4 || !take_text(g, &l) || v[3] >= TYPES)
        return wrong(g, "f(level,left,width,type,'name') was expected", err);
    return put_box(g, v[0], v[2],
                   fb_strings_put(&g->p->strings, g->text.data ? g->text.data : "", g->text.len),
                   (unsigned)v[3], err);
}

static enum fb_status take_page(struct page *g, const char *text, size_t n, struct fb_err *err)
{
    const char *at = text, *end = text + n;
    bool in_pool = false;
    enum fb_status r = FB_OK;

    while (at < end && r == FB_OK) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct line l = {at, stop ? stop : end};

        g->line++;
        if (in_pool) {
            while (take_text(g, &l)) {
                put_name(g);
                l.at += l.at < l.end && *l.at == ',';
            }
            in_pool = !(l.at < l.end && *l.at == ']');
            if (in_pool && l.at < l.end && *l.at != '\r')
                r = wrong(g, "a name between quotes was expected", err);
        } else if (memmem(l.at, (size_t)(l.end - l.at), pool_start, sizeof pool_start - 1)) {
            in_pool = true;
        } else {
            r = take_line(g, l, err);
        }
        at = stop ? stop + 1 : end;
    }
    close_to(g, 0);
    return r;
}

enum fb_status fb_jfrconv_read(struct fb_source *in, const struct fb_read_options *options,
                               struct fb_profile **ret_p, struct fb_read_report *report,
                               struct fb_err *err)
{
    struct page g = {.p = fb_profile_new(), .name = fb_source_name(in)};
    const char *text;
    size_t n;
    enum fb_status r = fb_source_all(in, &text, &n, err);

    (void)options; /* one profile a page */
    if (r == FB_OK)
        r = take_page(&g, text, n, err);
    if (r == FB_OK && g.p->samples.count == 0)
        r = fb_fail(err, FB_EFORMAT,
                    "%s: has no boxes, a flame graph of async-profiler was expected", g.name);
    free(g.names);
    free(g.open);
    fb_buf_done(&g.text);
    if (r != FB_OK) {
        fb_profile_free(g.p);
        return r;
    }
    g.p->rows_merged = 1;
    g.p->ended = true;
    report->samples_in = g.p->samples.count;
    *ret_p = g.p;
    return FB_OK;
}
