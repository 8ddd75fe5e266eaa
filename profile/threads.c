/* Threads as the outermost frames of their stacks, for views and rules that go by thread. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/vec.h"
#include "profile/model.h"

struct moved { /* stack `from` under the root `root` is stack `to` */
    uint32_t root, from, to;
};

struct mover {
    struct fb_profile *p;
    uint32_t *root_of_thread; /* 0: not made yet */
    struct moved *items;
    size_t count, room;
    struct fb_index index;
    uint32_t *way; /* the stacks from a leaf up to one that is moved already */
    size_t way_room;
};

static uint32_t root_of(struct mover *m, uint32_t thread)
{
    const struct fb_thread *t = &m->p->threads[thread];
    const struct fb_string *name = &m->p->strings.items[t->name];
    struct fb_frame f = {.kind = FB_FRAME_MARK};
    struct fb_buf text = {0};

    if (m->root_of_thread[thread] != 0)
        return m->root_of_thread[thread];
    fb_buf_putc(&text, '[');
    fb_buf_add(&text, name->text, name->len);
    fb_buf_printf(&text, "%stid=%u]", name->len > 0 ? " " : "", t->tid);
    f.name = fb_strings_put(&m->p->strings, text.data, text.len);
    fb_buf_done(&text);
    m->root_of_thread[thread] =
        fb_profile_stack_put(m->p, FB_STACK_ROOT, fb_profile_frame_put(m->p, &f)).n;
    return m->root_of_thread[thread];
}

static bool find(const struct mover *m, uint32_t root, uint32_t from, uint32_t *ret_to)
{
    struct fb_index_cursor at = fb_index_seek(&m->index, fb_hash_pair(root, from));
    uint32_t i;

    while (fb_index_step(&m->index, &at, &i)) {
        if (m->items[i].root == root && m->items[i].from == from) {
            *ret_to = m->items[i].to;
            return true;
        }
    }
    return false;
}

static uint32_t move(struct mover *m, uint32_t root, uint32_t from)
{
    size_t depth = 0;
    uint32_t to = root;

    while (from != 0 && !find(m, root, from, &to)) {
        fb_vec_reserve(&m->way, &m->way_room, depth + 1, sizeof *m->way);
        m->way[depth++] = from;
        from = m->p->stacks[from].parent.n;
        to = root;
    }
    while (depth-- > 0) {
        uint32_t stack = m->way[depth];

        to = fb_profile_stack_put(m->p, (fb_stack_id){to}, m->p->stacks[stack].frame).n;
        fb_vec_reserve(&m->items, &m->room, m->count + 1, sizeof *m->items);
        fb_index_add(&m->index, fb_hash_pair(root, stack), (uint32_t)m->count);
        m->items[m->count++] = (struct moved){root, stack, to};
    }
    return to;
}

void fb_profile_root_threads(struct fb_profile *p)
{
    struct mover m = {.p = p};
    uint32_t last_thread = FB_NO_THREAD, last_from = 0, last_to = 0;

    m.root_of_thread = fb_alloc_array(p->threads_count, sizeof *m.root_of_thread);
    for (size_t i = 0; i < p->samples.count; i++) {
        uint32_t thread = p->samples.thread[i], from = p->samples.stack[i];

        if (thread == FB_NO_THREAD)
            continue;
        if (thread != last_thread || from != last_from)
            last_to = move(&m, root_of(&m, thread), from);
        last_thread = thread;
        last_from = from;
        p->samples.stack[i] = last_to;
    }
    fb_index_done(&m.index);
    free(m.items);
    free(m.way);
    free(m.root_of_thread);
}
