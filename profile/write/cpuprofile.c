#include "profile/write/cpuprofile.h"

#include <stdlib.h>

#include "base/vec.h"
#include "profile/write/out_tree.h"

struct writer {
    const struct fb_profile *p;
    struct fb_out_tree t;
    struct fb_buf *out;
    uint32_t *first, *next; /* children */
    uint64_t *hits;         /* rows by node */
    bool *is_used;          /* by node: it or one below it has rows */
    uint32_t *rows;
    double ns; /* of a unit of weight */
};

static void put_node(const struct writer *w, uint32_t node)
{
    uint32_t frame = w->t.stacks.nodes[node].function;
    const struct fb_out_frame *f = &w->t.frames[frame];
    struct fb_buf *out = w->out;

    fb_buf_printf(out, "%s{\"id\":%u,\"callFrame\":{\"functionName\":", node > 0 ? "," : "",
                  node + 1);
    if (node == 0)
        fb_buf_puts(out, "\"(root)\"");
    else
        fb_out_put_name(&w->t, frame, out);
    fb_buf_printf(out, ",\"scriptId\":\"%u\",\"url\":",
                  node > 0 && fb_out_function(&w->t, frame)->kind == FB_FRAME_JS ? f->file + 1 : 0);
    fb_out_put_text(w->p, node > 0 ? f->file : 0, out);
    fb_buf_printf(out, ",\"lineNumber\":%lld,\"columnNumber\":-1},\"hitCount\":%llu,\"children\":[",
                  node > 0 ? (long long)f->line - 1 : -1, (unsigned long long)w->hits[node]);
    for (uint32_t child = w->first[node]; child != 0; child = w->next[child]) {
        if (child != w->first[node])
            fb_buf_putc(out, ',');
        fb_buf_add_u64(out, child + 1);
    }
    fb_buf_puts(out, "]}");
}

static uint32_t node_of(const struct writer *w, size_t i)
{
    return w->t.stack_of[w->p->samples.stack[w->rows[i]]];
}

static void put_samples(const struct writer *w)
{
    for (size_t i = 0; i < w->p->samples.count; i++) {
        fb_buf_add_u64(w->out, node_of(w, i) + 1);
        fb_buf_putc(w->out, ',');
    }
    fb_buf_putc(w->out, '1');
}

/* Microseconds with three digits for nanoseconds. */
static void put_us(struct fb_buf *out, uint64_t ns)
{
    fb_buf_add_u64(out, ns / 1000);
    if (ns % 1000 != 0)
        fb_buf_printf(out, ".%03u", (unsigned)(ns % 1000));
}

static uint64_t put_deltas(const struct writer *w)
{
    uint64_t sum = 0;

    fb_buf_putc(w->out, '0');
    for (size_t i = 0; i < w->p->samples.count; i++) {
        uint64_t ns = w->p->samples.weight[w->rows[i]] * (uint64_t)w->ns;

        fb_buf_putc(w->out, ',');
        put_us(w->out, ns);
        sum += ns;
    }
    return sum;
}

/* Children come behind their parents, so one pass backwards knows what is used. */
static void link_children(struct writer *w)
{
    for (uint32_t n = (uint32_t)w->t.stacks.count - 1; n > 0; n--) {
        uint32_t parent = w->t.stacks.nodes[n].parent;

        w->is_used[n] = w->is_used[n] || w->hits[n] > 0;
        if (!w->is_used[n])
            continue;
        w->is_used[parent] = true;
        w->next[n] = w->first[parent];
        w->first[parent] = n;
    }
}

void fb_cpuprofile_write(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out)
{
    struct writer w = {.p = p, .out = out};
    uint64_t end_ns;

    fb_out_tree_init(&w.t, p, canonical);
    w.ns = fb_profile_weight_ns(p);
    w.ns = w.ns > 0 ? w.ns : 1000;
    w.rows = fb_out_rows_by_thread(p);
    w.first = fb_alloc_array(w.t.stacks.count, sizeof *w.first);
    w.next = fb_alloc_array(w.t.stacks.count, sizeof *w.next);
    w.hits = fb_alloc_array(w.t.stacks.count, sizeof *w.hits);
    w.is_used = fb_alloc_array(w.t.stacks.count, sizeof *w.is_used);
    for (size_t i = 0; i < p->samples.count; i++)
        w.hits[node_of(&w, i)]++;
    link_children(&w);
    fb_buf_puts(out, "{\"nodes\":[");
    for (uint32_t n = 0; n < w.t.stacks.count; n++) {
        if (n == 0 || w.is_used[n])
            put_node(&w, n);
    }
    fb_buf_puts(out, "],\"startTime\":0,\"samples\":[");
    put_samples(&w);
    fb_buf_puts(out, "],\"timeDeltas\":[");
    end_ns = put_deltas(&w);
    fb_buf_puts(out, "],\"endTime\":");
    put_us(out, end_ns);
    fb_buf_puts(out, "}\n");
    free(w.rows);
    free(w.first);
    free(w.next);
    free(w.hits);
    free(w.is_used);
    fb_out_tree_done(&w.t);
}
