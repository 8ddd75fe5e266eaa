#include "profile/write/out_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/vec.h"

static uint32_t frame_put(struct fb_out_tree *t, const struct fb_out_frame *frame)
{
    uint64_t hash = fb_hash_pair(frame->function, (uint64_t)frame->file << 32 | frame->line);
    struct fb_index_cursor at = fb_index_seek(&t->index, hash);
    uint32_t id;

    while (fb_index_step(&t->index, &at, &id)) {
        const struct fb_out_frame *f = &t->frames[id];

        if (f->function == frame->function && f->file == frame->file && f->line == frame->line)
            return id;
    }
    fb_vec_reserve(&t->frames, &t->frames_room, t->frames_count + 1, sizeof *t->frames);
    id = (uint32_t)t->frames_count;
    t->frames[t->frames_count++] = *frame;
    fb_index_add(&t->index, hash, id);
    return id;
}

void fb_out_tree_init(struct fb_out_tree *t, const struct fb_profile *p, fb_canonical_fn canonical)
{
    uint32_t *map;

    *t = (struct fb_out_tree){.p = p};
    fb_functions_init(&t->fns);
    fb_calltree_init(&t->stacks);
    fb_vec_reserve(&t->frames, &t->frames_room, 1, sizeof *t->frames);
    t->frames[t->frames_count++] = (struct fb_out_frame){0};
    map = fb_functions_add(&t->fns, p, canonical);
    for (size_t i = 1; i < p->frames_count; i++) {
        const struct fb_frame *f = &p->frames[i];

        map[i] =
            frame_put(t, &(struct fb_out_frame){map[i], f->file, f->line, f->module, f->address});
    }
    t->stack_of = fb_calltree_add(&t->stacks, p, map);
    free(map);
}

void fb_out_tree_done(struct fb_out_tree *t)
{
    fb_functions_done(&t->fns);
    fb_calltree_done(&t->stacks);
    fb_index_done(&t->index);
    free(t->frames);
    free(t->stack_of);
    *t = (struct fb_out_tree){0};
}

void fb_out_put_name(const struct fb_out_tree *t, uint32_t frame, struct fb_buf *out)
{
    const struct fb_string *s = &t->fns.strings.items[fb_out_function(t, frame)->name];

    fb_json_put_string(out, s->text, s->len);
}

void fb_out_put_text(const struct fb_profile *p, uint32_t string, struct fb_buf *out)
{
    const struct fb_string *s = &p->strings.items[string];

    fb_json_put_string(out, s->text, s->len);
}

static int by_thread(const void *a, const void *b, void *arg)
{
    const struct fb_samples *s = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

    if (s->thread[i] != s->thread[k])
        return s->thread[i] < s->thread[k] ? -1 : 1;
    if (s->time_ns[i] != s->time_ns[k])
        return s->time_ns[i] < s->time_ns[k] ? -1 : 1;
    return i < k ? -1 : i > k;
}

uint32_t *fb_out_rows_by_thread(const struct fb_profile *p)
{
    uint32_t *rows = fb_alloc_array(p->samples.count, sizeof *rows);
    bool sorted = true;

    for (size_t i = 0; i < p->samples.count; i++) {
        rows[i] = (uint32_t)i;
        sorted = sorted &&
                 (i == 0 || by_thread(&rows[i - 1], &rows[i], (void *)(size_t)&p->samples) < 0);
    }
    if (!sorted)
        qsort_r(rows, p->samples.count, sizeof *rows, by_thread, (void *)(size_t)&p->samples);
    return rows;
}

void fb_out_put_thread(const struct fb_profile *p, uint32_t thread, struct fb_buf *out)
{
    const struct fb_thread *t = &p->threads[thread];
    const struct fb_string *name = &p->strings.items[t->name];
    size_t start = out->len;

    if (thread == FB_NO_THREAD)
        return;
    fb_buf_add(out, name->text, name->len);
    if (t->tid != 0)
        fb_buf_printf(out, "%stid=%u", out->len > start ? " " : "", t->tid);
    if (t->pid != 0)
        fb_buf_printf(out, "%spid=%u", out->len > start ? " " : "", t->pid);
}
