#include "profile/write/speedscope.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/vec.h"
#include "profile/write/out_tree.h"

struct writer {
    const struct fb_profile *p;
    struct fb_out_tree t;
    struct fb_buf *out;
    struct fb_buf weights; /* of the thread that is being written */
    uint32_t *path;
    size_t path_room;
    uint64_t *sums; /* by node, for profiles without times */
    const char *unit;
    uint64_t scale;
    uint64_t total;
    bool is_first;
};

static void put_frame(const struct writer *w, uint32_t frame)
{
    const struct fb_out_frame *f = &w->t.frames[frame];
    const struct fb_function *fn = fb_out_function(&w->t, frame);
    struct fb_buf *out = w->out;

    fb_buf_puts(out, "{\"name\":");
    fb_out_put_name(&w->t, frame, out);
    if (f->file != 0) {
        fb_buf_puts(out, ",\"file\":");
        fb_out_put_text(w->p, f->file, out);
    }
    if (f->line != 0)
        fb_buf_printf(out, ",\"line\":%u", f->line);
    if (f->module != FB_NO_MODULE && w->p->modules[f->module].path != 0) {
        fb_buf_puts(out, ",\"module\":");
        fb_out_put_text(w->p, w->p->modules[f->module].path, out);
    }
    if (fn->kind != FB_FRAME_NATIVE)
        fb_buf_printf(out, ",\"kind\":\"%s\"", fb_frame_kind_text(fn->kind));
    if (fn->tier != FB_TIER_UNKNOWN)
        fb_buf_printf(out, ",\"tier\":\"%s\"", fb_tier_text(fn->tier));
    fb_buf_putc(out, '}');
}

static void put_sample(struct writer *w, uint32_t node, uint64_t weight)
{
    size_t depth = 0;

    fb_buf_puts(w->out, w->is_first ? "[" : ",[");
    for (uint32_t n = node; n != 0; n = w->t.stacks.nodes[n].parent) {
        fb_vec_reserve(&w->path, &w->path_room, depth + 1, sizeof *w->path);
        w->path[depth++] = w->t.stacks.nodes[n].function - 1;
    }
    while (depth-- > 0) {
        fb_buf_add_u64(w->out, w->path[depth]);
        if (depth > 0)
            fb_buf_putc(w->out, ',');
    }
    fb_buf_putc(w->out, ']');
    if (!w->is_first)
        fb_buf_putc(&w->weights, ',');
    fb_buf_add_u64(&w->weights, weight * w->scale);
    w->total += weight * w->scale;
    w->is_first = false;
}

static uint32_t node_of_row(const struct writer *w, uint32_t row)
{
    return w->t.stack_of[w->p->samples.stack[row]];
}

static void put_in_order(struct writer *w, const uint32_t *rows, size_t n)
{
    const uint64_t *weight = w->p->samples.weight;
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += weight[rows[i]];
        if (i + 1 < n && node_of_row(w, rows[i]) == node_of_row(w, rows[i + 1]))
            continue;
        put_sample(w, node_of_row(w, rows[i]), sum);
        sum = 0;
    }
}

static void put_summed(struct writer *w, const uint32_t *rows, size_t n)
{
    if (!w->sums)
        w->sums = fb_alloc_array(w->t.stacks.count, sizeof *w->sums);
    for (size_t i = 0; i < n; i++)
        w->sums[node_of_row(w, rows[i])] += w->p->samples.weight[rows[i]];
    for (size_t i = 0; i < n; i++) {
        uint32_t node = node_of_row(w, rows[i]);

        if (w->sums[node] > 0)
            put_sample(w, node, w->sums[node]);
        w->sums[node] = 0;
    }
}

static void put_thread(struct writer *w, const uint32_t *rows, size_t n)
{
    uint32_t thread = w->p->samples.thread[rows[0]];
    const char *title = fb_profile_manifest_get(w->p, "name");
    struct fb_buf name = {0};

    fb_out_put_thread(w->p, thread, &name);
    if (thread == FB_NO_THREAD)
        fb_buf_puts(&name, title ? title : "profile");
    fb_buf_puts(w->out, "{\"type\":\"sampled\",\"name\":");
    fb_json_put_string(w->out, name.data ? name.data : "", name.len);
    fb_buf_printf(w->out, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[", w->unit);
    w->weights.len = 0;
    w->total = 0;
    w->is_first = true;
    (w->p->has_times ? put_in_order : put_summed)(w, rows, n);
    fb_buf_puts(w->out, "],\"weights\":[");
    fb_buf_add(w->out, w->weights.data ? w->weights.data : "", w->weights.len);
    fb_buf_printf(w->out, "],\"endValue\":%llu}", (unsigned long long)w->total);
    fb_buf_done(&name);
}

static void put_threads(struct writer *w)
{
    uint32_t *rows = fb_out_rows_by_thread(w->p);
    const uint32_t *thread = w->p->samples.thread;

    for (size_t from = 0, to; from < w->p->samples.count; from = to) {
        for (to = from + 1; to < w->p->samples.count && thread[rows[to]] == thread[rows[from]];)
            to++;
        if (from > 0)
            fb_buf_putc(w->out, ',');
        put_thread(w, rows + from, to - from);
    }
    free(rows);
}

void fb_speedscope_write(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out)
{
    struct writer w = {.p = p, .out = out, .unit = "none", .scale = 1};
    const char *title = fb_profile_manifest_get(p, "name");
    double ns = fb_profile_weight_ns(p);

    if (ns > 0) {
        w.unit = "nanoseconds";
        w.scale = (uint64_t)ns;
    } else if (strcmp(fb_profile_text(p, p->unit), "bytes") == 0) {
        w.unit = "bytes";
    }
    fb_out_tree_init(&w.t, p, canonical);
    fb_buf_puts(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                     "\"exporter\":\"flamebank\",");
    if (title) {
        fb_buf_puts(out, "\"name\":");
        fb_json_put_string(out, title, strlen(title));
        fb_buf_putc(out, ',');
    }
    fb_buf_puts(out, "\"activeProfileIndex\":0,\"shared\":{\"frames\":[");
    for (uint32_t i = 1; i < w.t.frames_count; i++) {
        if (i > 1)
            fb_buf_putc(out, ',');
        put_frame(&w, i);
    }
    fb_buf_puts(out, "]},\"profiles\":[");
    put_threads(&w);
    fb_buf_puts(out, "]}\n");
    fb_out_tree_done(&w.t);
    fb_buf_done(&w.weights);
    free(w.path);
    free(w.sums);
}
