/* Parts of a text put together, and the tables of a part. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "profile/read/text.h"

void fb_text_weight_add(struct fb_text_part *part, size_t row, uint64_t weight)
{
    uint64_t *sum = &part->p->samples.weight[row];

    if (__builtin_add_overflow(*sum, weight, sum))
        *sum = UINT64_MAX;
}

size_t fb_text_row_of_stack(struct fb_text_part *part, fb_stack_id stack)
{
    uint64_t hash = fb_hash_mix(stack.n + 1ull);
    struct fb_index_cursor at = fb_index_seek(&part->row_of_stack, hash);
    uint32_t row;

    while (fb_index_step(&part->row_of_stack, &at, &row)) {
        if (part->p->samples.stack[row] == stack.n)
            return row;
    }
    fb_index_add(&part->row_of_stack, hash, (uint32_t)part->p->samples.count);
    fb_profile_sample_add(part->p, 0, FB_NO_THREAD, stack, 0);
    return part->p->samples.count - 1;
}

uint32_t fb_text_thread_put(struct fb_text_part *part, uint32_t pid, uint32_t tid, const char *name,
                            size_t name_len)
{
    struct fb_profile *p = part->p;
    uint32_t text = fb_strings_put(&p->strings, name, name_len), id;
    uint64_t hash = fb_hash_pair((uint64_t)pid << 32 | tid, text);
    struct fb_index_cursor at = fb_index_seek(&part->threads, hash);

    while (fb_index_step(&part->threads, &at, &id)) {
        const struct fb_thread *t = &p->threads[id];

        if (t->pid == pid && t->tid == tid && t->name == text)
            return id;
    }
    id = fb_profile_thread_add(p, tid, text);
    p->threads[id].pid = pid;
    fb_index_add(&part->threads, hash, id);
    return id;
}

uint32_t fb_text_module_put(struct fb_text_part *part, const char *path, size_t len)
{
    struct fb_profile *p = part->p;
    uint32_t text = fb_strings_put(&p->strings, path, len), id;
    struct fb_index_cursor at = fb_index_seek(&part->modules, fb_hash_mix(text));

    if (len == 0)
        return FB_NO_MODULE;
    while (fb_index_step(&part->modules, &at, &id)) {
        if (p->modules[id].path == text)
            return id;
    }
    id = fb_profile_module_add(p, &(struct fb_module){.path = text, .unload_ns = INT64_MAX});
    fb_index_add(&part->modules, fb_hash_mix(text), id);
    return id;
}

/* Room for `count` ids, the new ones 0. */
static void map_extend(uint32_t **map, size_t *room, size_t *have, size_t count)
{
    if (*have >= count)
        return;
    fb_vec_reserve(map, room, count, sizeof **map);
    memset(*map + *have, 0, (count - *have) * sizeof **map);
    *have = count;
}

static uint32_t put_text(struct fb_profile *to, const struct fb_profile *from, uint32_t string)
{
    const struct fb_string *s = &from->strings.items[string];

    return fb_strings_put(&to->strings, s->text, s->len);
}

static fb_frame_id map_frame(struct fb_text_part *to, const struct fb_profile *from,
                             struct fb_text_maps *maps, uint32_t frame)
{
    struct fb_frame f = from->frames[frame];
    const struct fb_string *module = &from->strings.items[from->modules[f.module].path];

    if (maps->frames[frame] == 0) {
        f.module = fb_text_module_put(to, module->text, module->len);
        f.name = put_text(to->p, from, f.name);
        f.file = put_text(to->p, from, f.file);
        f.signature = put_text(to->p, from, f.signature);
        maps->frames[frame] = fb_profile_frame_put(to->p, &f).n;
    }
    return (fb_frame_id){maps->frames[frame]};
}

static fb_stack_id map_stack(struct fb_text_part *to, const struct fb_profile *from,
                             struct fb_text_maps *maps, uint32_t stack)
{
    size_t depth = 0;
    fb_stack_id at;

    for (; stack != 0 && maps->stacks[stack] == 0; stack = from->stacks[stack].parent.n) {
        fb_vec_reserve(&maps->way, &maps->way_room, depth + 1, sizeof *maps->way);
        maps->way[depth++] = stack;
    }
    at.n = maps->stacks[stack];
    while (depth-- > 0) {
        uint32_t s = maps->way[depth];

        at = fb_profile_stack_put(to->p, at, map_frame(to, from, maps, from->stacks[s].frame.n));
        maps->stacks[s] = at.n;
    }
    return at;
}

static uint32_t map_thread(struct fb_text_part *to, const struct fb_profile *from,
                           struct fb_text_maps *maps, uint32_t thread)
{
    const struct fb_thread *t = &from->threads[thread];
    const struct fb_string *name = &from->strings.items[t->name];

    if (thread != FB_NO_THREAD && maps->threads[thread] == 0)
        maps->threads[thread] = fb_text_thread_put(to, t->pid, t->tid, name->text, name->len);
    return maps->threads[thread];
}

void fb_text_merge(struct fb_text_part *to, bool merges_rows, const struct fb_text_part *from,
                   struct fb_text_maps *maps, const struct fb_text_range *range)
{
    const struct fb_profile *p = from->p;
    size_t base = to->p->samples.count;

    map_extend(&maps->frames, &maps->frames_room, &maps->frames_count, p->frames_count);
    map_extend(&maps->stacks, &maps->stacks_room, &maps->stacks_count, p->stacks_count);
    map_extend(&maps->threads, &maps->threads_room, &maps->threads_count, p->threads_count);
    for (size_t i = range->first; i < range->end; i++) {
        uint32_t thread = map_thread(to, p, maps, p->samples.thread[i]);
        fb_stack_id stack = map_stack(to, p, maps, p->samples.stack[i]);
        uint64_t weight = p->samples.weight[i];

        if (merges_rows) {
            size_t row = fb_text_row_of_stack(to, stack);

            fb_text_weight_add(to, row, weight);
        } else {
            fb_profile_sample_add(to->p, p->samples.time_ns[i], thread, stack, weight);
        }
    }
    for (size_t i = range->first_fraction; i < range->end_fraction; i++) {
        struct fb_text_fraction f = from->fractions[i];

        f.row = merges_rows
                    ? fb_text_row_of_stack(to, (fb_stack_id){maps->stacks[p->samples.stack[f.row]]})
                    : base + (f.row - range->first);
        fb_vec_reserve(&to->fractions, &to->fractions_room, to->fractions_count + 1,
                       sizeof *to->fractions);
        to->fractions[to->fractions_count++] = f;
    }
}

void fb_text_maps_done(struct fb_text_maps *maps)
{
    free(maps->frames);
    free(maps->stacks);
    free(maps->threads);
    free(maps->way);
}
