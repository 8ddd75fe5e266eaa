#include "profile/write/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

struct writer {
    const struct fb_profile *p;
    struct fb_functions fns;
    uint32_t *function_of_frame;
    uint32_t *way; /* of one stack */
    size_t way_room;
    struct fb_buf text; /* of one field */
    struct fb_buf *out;
};

/* A field, in quotes where it needs them. */
static void put_field(struct writer *w)
{
    bool quote = false;

    for (size_t i = 0; i < w->text.len && !quote; i++)
        quote = strchr("\",\r\n", w->text.data[i]) && w->text.data[i];
    if (quote)
        fb_buf_putc(w->out, '"');
    for (size_t i = 0; i < w->text.len; i++) {
        if (w->text.data[i] == '"')
            fb_buf_putc(w->out, '"');
        fb_buf_putc(w->out, w->text.data[i]);
    }
    if (quote)
        fb_buf_putc(w->out, '"');
    w->text.len = 0;
}

static void add_clean(struct writer *w, const struct fb_string *s)
{
    for (size_t i = 0; i < s->len; i++) {
        char c = s->text[i];

        fb_buf_putc(&w->text, c == ';' ? ':' : (unsigned char)c < 0x20 || c == 0x7f ? '?' : c);
    }
}

static void add_name(struct writer *w, uint32_t stack)
{
    uint32_t function = w->function_of_frame[w->p->stacks[stack].frame.n];

    add_clean(w, &w->fns.strings.items[w->fns.items[function].name]);
}

static void put_stack(struct writer *w, uint32_t stack)
{
    size_t n = 0;

    if (stack != 0)
        add_name(w, stack);
    put_field(w);
    fb_buf_putc(w->out, ',');
    for (; stack != 0; stack = w->p->stacks[stack].parent.n) {
        fb_vec_reserve(&w->way, &w->way_room, n + 1, sizeof *w->way);
        w->way[n++] = stack;
    }
    while (n-- > 0) {
        add_name(w, w->way[n]);
        if (n > 0)
            fb_buf_putc(&w->text, ';');
    }
    put_field(w);
}

static void put_row(struct writer *w, size_t i, uint64_t weight)
{
    const struct fb_samples *s = &w->p->samples;
    const struct fb_thread *t = &w->p->threads[s->thread[i]];

    if (w->p->has_times)
        fb_buf_printf(w->out, "%lld", (long long)s->time_ns[i]);
    fb_buf_putc(w->out, ',');
    if (s->thread[i] != FB_NO_THREAD)
        fb_buf_add_u64(w->out, t->tid);
    fb_buf_putc(w->out, ',');
    add_clean(w, &w->p->strings.items[t->name]);
    put_field(w);
    fb_buf_putc(w->out, ',');
    fb_buf_add_u64(w->out, weight);
    fb_buf_putc(w->out, ',');
    add_clean(w, &w->p->strings.items[w->p->unit]);
    put_field(w);
    fb_buf_putc(w->out, ',');
    put_stack(w, s->stack[i]);
    fb_buf_putc(w->out, '\n');
}

/* Without times: one row for each stack and thread, in order of appearance. */
static void put_merged(struct writer *w)
{
    const struct fb_samples *s = &w->p->samples;
    struct fb_index index = {0};
    struct row {
        size_t sample;
        uint64_t weight;
    } *rows = NULL;
    size_t count = 0, room = 0;

    for (size_t i = 0; i < s->count; i++) {
        uint64_t hash = fb_hash_pair(s->thread[i], s->stack[i]);
        struct fb_index_cursor at = fb_index_seek(&index, hash);
        bool found = false;
        uint32_t k;

        while (!found && fb_index_step(&index, &at, &k))
            found = s->thread[rows[k].sample] == s->thread[i] &&
                    s->stack[rows[k].sample] == s->stack[i];
        if (!found) {
            k = (uint32_t)count++;
            fb_vec_reserve(&rows, &room, count, sizeof *rows);
            rows[k] = (struct row){i, 0};
            fb_index_add(&index, hash, k);
        }
        rows[k].weight += s->weight[i];
    }
    for (size_t k = 0; k < count; k++)
        put_row(w, rows[k].sample, rows[k].weight);
    free(rows);
    fb_index_done(&index);
}

void fb_csv_profile_write(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out)
{
    struct writer w = {.p = p, .out = out};

    fb_functions_init(&w.fns);
    w.function_of_frame = fb_functions_add(&w.fns, p, canonical);
    fb_buf_puts(out, "time_ns,tid,thread,weight,unit,leaf,stack\n");
    if (p->has_times) {
        for (size_t i = 0; i < p->samples.count; i++)
            put_row(&w, i, p->samples.weight[i]);
    } else {
        put_merged(&w);
    }
    free(w.function_of_frame);
    free(w.way);
    fb_buf_done(&w.text);
    fb_functions_done(&w.fns);
}
