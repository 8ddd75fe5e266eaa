#include "profile/write/timed.h"

#include <stdlib.h>

#include "base/vec.h"
#include "profile/write/folded.h"

struct names { /* of frames, as they are written */
    size_t *at;
    struct fb_buf text;
};

static void names_make(const struct fb_profile *p, fb_canonical_fn canonical,
                       struct names *ret_names)
{
    struct fb_functions fns;
    uint32_t *function_of_frame;

    fb_functions_init(&fns);
    function_of_frame = fb_functions_add(&fns, p, canonical);
    ret_names->at = fb_alloc_array(p->frames_count + 1, sizeof *ret_names->at);
    for (size_t i = 0; i < p->frames_count; i++) {
        ret_names->at[i] = ret_names->text.len;
        if (i > 0)
            fb_folded_name(&fns, function_of_frame[i], &ret_names->text);
    }
    ret_names->at[p->frames_count] = ret_names->text.len;
    free(function_of_frame);
    fb_functions_done(&fns);
}

/* Milliseconds, with as many decimals as the time has. */
static void put_time(struct fb_buf *out, int64_t ns)
{
    uint64_t abs = ns < 0 ? 0 : (uint64_t)ns; /* no wall clock is before 1970 */
    unsigned rest = (unsigned)(abs % 1000000);

    fb_buf_add_u64(out, abs / 1000000);
    if (rest == 0)
        return;
    fb_buf_printf(out, ".%06u", rest);
    while (out->data[out->len - 1] == '0')
        out->len--;
}

static void put_thread(struct fb_buf *out, const struct fb_profile *p, uint32_t thread)
{
    const struct fb_thread *t = &p->threads[thread];
    const struct fb_string *name = &p->strings.items[t->name];

    for (size_t i = 0; i < name->len; i++) {
        char c = name->text[i];

        fb_buf_putc(out, (unsigned char)c < 0x20 || c == 0x7f ? '?' : c);
    }
    if (t->tid != 0)
        fb_buf_printf(out, "%stid=%u", name->len > 0 ? " " : "", t->tid);
}

static void put_stack(struct fb_buf *out, const struct fb_profile *p, const struct names *names,
                      uint32_t stack, uint32_t **way, size_t *room)
{
    size_t depth = 0;

    for (; stack != 0; stack = p->stacks[stack].parent.n) {
        fb_vec_reserve(way, room, depth + 1, sizeof **way);
        (*way)[depth++] = p->stacks[stack].frame.n;
    }
    for (size_t i = depth; i-- > 0;) {
        size_t at = names->at[(*way)[i]];

        fb_buf_add(out, names->text.data + at, names->at[(*way)[i] + 1] - at);
        if (i > 0)
            fb_buf_putc(out, ';');
    }
}

void fb_timed_write(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out)
{
    struct names names = {0};
    uint32_t *way = NULL;
    size_t room = 0;

    names_make(p, canonical, &names);
    for (size_t i = 0; i < p->samples.count; i++) {
        put_time(out, p->has_times ? p->samples.time_ns[i] : 0);
        fb_buf_putc(out, '\t');
        put_thread(out, p, p->samples.thread[i]);
        fb_buf_putc(out, '\t');
        put_stack(out, p, &names, p->samples.stack[i], &way, &room);
        if (p->samples.weight[i] != 1) {
            fb_buf_putc(out, '\t');
            fb_buf_add_u64(out, p->samples.weight[i]);
        }
        fb_buf_putc(out, '\n');
        fb_buf_drain(out);
    }
    fb_buf_done(&names.text);
    free(names.at);
    free(way);
}
