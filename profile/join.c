#include "profile/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static uint32_t text_copy(struct fb_profile *to, const struct fb_profile *from, uint32_t id)
{
    const struct fb_string *s = &from->strings.items[id];

    return fb_strings_put(&to->strings, s->text, s->len);
}

static uint32_t *modules_copy(struct fb_profile *to, const struct fb_profile *from)
{
    uint32_t *map = fb_alloc_array(from->modules_count + 1, sizeof *map);

    for (size_t i = 1; i < from->modules_count; i++) {
        struct fb_module m = from->modules[i];

        m.path = text_copy(to, from, m.path);
        m.build_id = text_copy(to, from, m.build_id);
        map[i] = fb_profile_module_add(to, &m);
    }
    return map;
}

static uint32_t *frames_copy(struct fb_profile *to, const struct fb_profile *from)
{
    uint32_t *modules = modules_copy(to, from);
    uint32_t *map = fb_alloc_array(from->frames_count + 1, sizeof *map);

    for (size_t i = 1; i < from->frames_count; i++) {
        struct fb_frame f = from->frames[i];

        f.module = modules[f.module];
        f.name = text_copy(to, from, f.name);
        f.file = text_copy(to, from, f.file);
        f.signature = text_copy(to, from, f.signature);
        map[i] = fb_profile_frame_put(to, &f).n;
    }
    free(modules);
    return map;
}

/* A parent is before its children. */
static uint32_t *stacks_copy(struct fb_profile *to, const struct fb_profile *from)
{
    uint32_t *frames = frames_copy(to, from);
    uint32_t *map = fb_alloc_array(from->stacks_count + 1, sizeof *map);

    for (size_t i = 1; i < from->stacks_count; i++) {
        fb_stack_id parent = {map[from->stacks[i].parent.n]};
        fb_frame_id frame = {frames[from->stacks[i].frame.n]};

        map[i] = fb_profile_stack_put(to, parent, frame).n;
    }
    free(frames);
    return map;
}

static const char *unit_of(const struct fb_profile *p)
{
    return fb_profile_text(p, p->unit);
}

static enum fb_status kinds_check(const struct fb_profile *to, const struct fb_profile *from,
                                  struct fb_err *err)
{
    if (from->has_times)
        return fb_fail(err, FB_EUNSUPPORTED, "has times of its own; one without was expected");
    if (to->samples.count > 0 &&
        (strcmp(unit_of(to), unit_of(from)) != 0 || to->interval_ns != from->interval_ns))
        return fb_fail(err, FB_EFORMAT,
                       "counts %s each %llu ns, what came before %s each %llu ns; one kind was "
                       "expected",
                       unit_of(from), (unsigned long long)from->interval_ns, unit_of(to),
                       (unsigned long long)to->interval_ns);
    return FB_OK;
}

enum fb_status fb_profile_join(struct fb_profile *to, const struct fb_profile *from,
                               int64_t time_ns, int64_t grain_ns, struct fb_err *err)
{
    bool is_first = to->samples.count == 0;
    enum fb_status r = kinds_check(to, from, err);
    uint32_t *stacks;

    if (r != FB_OK)
        return r;
    if (is_first) {
        to->unit = text_copy(to, from, from->unit);
        to->type = text_copy(to, from, from->type);
        to->interval_ns = from->interval_ns;
        to->first_ns = to->last_ns = time_ns;
    }
    stacks = stacks_copy(to, from);
    for (size_t i = 0; i < from->samples.count; i++)
        fb_profile_sample_add(to, time_ns, FB_NO_THREAD,
                              (fb_stack_id){stacks[from->samples.stack[i]]},
                              from->samples.weight[i]);
    free(stacks);
    for (size_t i = 0; i < FB_LOSS_CAUSE_COUNT; i++)
        to->losses[i] += from->losses[i];
    to->rows_merged += from->rows_merged;
    to->has_times = to->ended = true;
    to->grain_ns = grain_ns > to->grain_ns ? grain_ns : to->grain_ns;
    if (time_ns < to->first_ns)
        to->first_ns = time_ns;
    if (time_ns > to->last_ns)
        to->last_ns = time_ns;
    return FB_OK;
}
