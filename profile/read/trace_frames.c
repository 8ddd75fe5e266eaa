#include "profile/read/trace_frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "profile/read/tree_rows.h"

struct fb_trace_frame {
    uint32_t id, parent; /* strings; parent 0: none */
    uint32_t frame;
};

void fb_trace_frames_done(struct fb_trace_frames *t)
{
    free(t->frames);
    free(t->samples);
    *t = (struct fb_trace_frames){0};
}

double fb_trace_number(struct fb_json_in *in, double fallback)
{
    struct fb_json_text text;
    char digits[64], *end;
    double v;

    if (fb_json_in_peek(in) != FB_JSON_STRING)
        return fb_json_in_double_or(in, fallback);
    (void)fb_json_in_string(in, &text);
    if (text.len == 0 || text.len >= sizeof digits)
        return fallback;
    memcpy(digits, text.text, text.len);
    digits[text.len] = '\0';
    v = strtod(digits, &end);
    return end > digits ? v : fallback;
}

/* An id as a text: 5 and "5" are the same. */
static uint32_t take_id(struct fb_trace_frames *t, struct fb_json_in *in)
{
    struct fb_json_text text;
    char digits[32];
    int64_t v;

    if (fb_json_in_peek(in) != FB_JSON_NUMBER) {
        fb_json_in_string_or(in, &text);
        return fb_strings_put(&t->p->strings, text.text, text.len);
    }
    if (!fb_json_in_int(in, &v))
        return 0;
    (void)snprintf(digits, sizeof digits, "%lld", (long long)v);
    return fb_strings_put_z(&t->p->strings, digits);
}

void fb_trace_frames_take(struct fb_trace_frames *t, struct fb_json_in *in)
{
    struct fb_json_text id, key, text;

    for (fb_json_in_object(in); fb_json_in_key(in, &id);) {
        struct fb_frame frame = {.kind = FB_FRAME_NATIVE};
        struct fb_trace_frame f = {.id = fb_strings_put(&t->p->strings, id.text, id.len)};

        for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
            if (fb_json_text_is(&key, "name")) {
                fb_json_in_string_or(in, &text);
                frame.name = fb_strings_put(&t->p->strings, text.text, text.len);
            } else if (fb_json_text_is(&key, "parent")) {
                f.parent = take_id(t, in);
            } else {
                fb_json_in_skip(in);
            }
        }
        f.frame = fb_profile_frame_put(t->p, &frame).n;
        fb_vec_reserve(&t->frames, &t->frames_room, t->frames_count + 1, sizeof *t->frames);
        t->frames[t->frames_count++] = f;
    }
}

static int64_t whole(double v)
{
    return v > -4.6e18 && v < 4.6e18 ? (int64_t)nearbyint(v) : 0;
}

void fb_trace_frames_take_samples(struct fb_trace_frames *t, struct fb_json_in *in)
{
    struct fb_json_text key;

    for (fb_json_in_array(in); fb_json_in_item(in);) {
        struct fb_trace_sample s = {.weight = 1};

        if (fb_json_in_peek(in) != FB_JSON_OBJECT) {
            fb_json_in_skip(in);
            continue;
        }
        for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
            if (fb_json_text_is(&key, "sf"))
                s.frame = take_id(t, in);
            else if (fb_json_text_is(&key, "ts"))
                s.ns = whole(fb_trace_number(in, 0) * 1000);
            else if (fb_json_text_is(&key, "pid"))
                s.pid = whole(fb_trace_number(in, 0));
            else if (fb_json_text_is(&key, "tid"))
                s.tid = whole(fb_trace_number(in, 0));
            else if (fb_json_text_is(&key, "weight"))
                s.weight = (uint64_t)fmin(9e15, fmax(0, nearbyint(fb_trace_number(in, 1))));
            else
                fb_json_in_skip(in);
        }
        if (fb_json_in_failed(in) || in->cut)
            return;
        fb_vec_reserve(&t->samples, &t->room, t->count + 1, sizeof *t->samples);
        t->samples[t->count++] = s;
    }
}

static uint32_t find(const struct fb_trace_frames *t, const struct fb_index *by_id, uint32_t id)
{
    struct fb_index_cursor at = fb_index_seek(by_id, fb_hash_mix(id));
    uint32_t i;

    while (id != 0 && fb_index_step(by_id, &at, &i)) {
        if (t->frames[i].id == id)
            return i;
    }
    return UINT32_MAX;
}

uint32_t *fb_trace_frames_stacks(const struct fb_trace_frames *t)
{
    uint32_t *parent = fb_alloc_array(t->frames_count, sizeof *parent);
    uint32_t *frame = fb_alloc_array(t->frames_count, sizeof *frame), *stacks;
    uint32_t *of_sample = fb_alloc_array(t->count, sizeof *of_sample);
    struct fb_index by_id = {0};

    for (uint32_t i = 0; i < t->frames_count; i++) {
        if (find(t, &by_id, t->frames[i].id) == UINT32_MAX)
            fb_index_add(&by_id, fb_hash_mix(t->frames[i].id), i);
        frame[i] = t->frames[i].frame;
    }
    for (size_t i = 0; i < t->frames_count; i++)
        parent[i] = find(t, &by_id, t->frames[i].parent);
    stacks = fb_stacks_of_nodes(t->p, parent, frame, t->frames_count);
    for (size_t i = 0; i < t->count && stacks; i++) {
        uint32_t at = find(t, &by_id, t->samples[i].frame);

        of_sample[i] = at == UINT32_MAX ? UINT32_MAX : stacks[at];
    }
    fb_index_done(&by_id);
    free(parent);
    free(frame);
    if (!stacks) {
        free(of_sample);
        return NULL;
    }
    free(stacks);
    return of_sample;
}
