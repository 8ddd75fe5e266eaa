#include "profile/read/speedscope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_in.h"
#include "base/vec.h"
#include "profile/read/json_kind.h"
#include "profile/read/tree_rows.h"
#include "profile/types.h"

enum { MOST_PROFILES = 1 << 20, MOST_UNITS = 64 };

struct event {
    double at;
    uint32_t frame;
    bool opens;
};

/* One profile while it is read: its keys come in any order. */
struct part {
    char *name;
    char unit[32], type[16];
    uint32_t *nodes; /* of samples */
    size_t nodes_count, nodes_room;
    double *weights;
    size_t weights_count, weights_room;
    struct event *events;
    size_t events_count, events_room;
};

/* What is kept of it. */
struct kept {
    char *name;
    char unit[32];
    bool has_times;
    size_t first_row, end_row;
};

struct file {
    struct fb_profile *p;
    const char *name;
    struct fb_calltree tree; /* of frame numbers + 1 */
    struct fb_tree_rows rows;
    uint32_t *frame_of; /* by frame number + 1 */
    size_t frames_count, frames_room;
    struct kept *kept;
    size_t kept_count, kept_room;
    struct fb_index modules; /* by path */
    uint32_t frame_most;     /* the greatest number + 1 that a stack has */
    uint64_t negative;
    char *title;
};

bool fb_speedscope_sniff(const void *head, size_t n)
{
    return fb_json_profile_kind(head, n) == FB_JSON_PROFILE_SPEEDSCOPE;
}

/* ---- frames ---- */

static void take_frame(struct fb_json_in *in, struct file *f)
{
    struct fb_frame frame = {.kind = FB_FRAME_NATIVE};
    struct fb_json_text key, text, none = {"", 0};

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (fb_json_text_is(&key, "name")) {
            if (!fb_json_in_string(in, &text))
                return;
            frame.name = fb_strings_put(&f->p->strings, text.text, text.len);
        } else if (fb_json_text_is(&key, "file")) {
            fb_json_in_string_or(in, &text);
            frame.file = fb_strings_put(&f->p->strings, text.text, text.len);
        } else if (fb_json_text_is(&key, "line")) {
            int64_t line = fb_json_in_int_or(in, 0);

            frame.line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
        } else if (fb_json_text_is(&key, "kind")) {
            fb_json_in_string_or(in, &text);
            fb_frame_words_take(&frame, &text, &none);
        } else if (fb_json_text_is(&key, "tier")) {
            fb_json_in_string_or(in, &text);
            fb_frame_words_take(&frame, &none, &text);
        } else if (fb_json_text_is(&key, "module")) {
            fb_json_in_string_or(in, &text);
            frame.module = fb_module_of_path(&f->modules, f->p,
                                             fb_strings_put(&f->p->strings, text.text, text.len));
        } else {
            fb_json_in_skip(in);
        }
    }
    fb_vec_reserve(&f->frame_of, &f->frames_room, f->frames_count + 2, sizeof *f->frame_of);
    f->frame_of[++f->frames_count] = fb_profile_frame_put(f->p, &frame).n;
}

static void take_shared(struct fb_json_in *in, struct file *f)
{
    struct fb_json_text key;

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (!fb_json_text_is(&key, "frames")) {
            fb_json_in_skip(in);
            continue;
        }
        for (fb_json_in_array(in); fb_json_in_item(in);)
            take_frame(in, f);
    }
}

/* ---- one profile ---- */

static bool take_number(struct fb_json_in *in, struct file *f, int64_t v, uint32_t *ret_frame)
{
    if (v < 0 || v >= UINT32_MAX - 1) {
        fb_json_in_wrong(in, "the number of a frame was expected, not %lld", (long long)v);
        return false;
    }
    *ret_frame = (uint32_t)v + 1;
    f->frame_most = f->frame_most > *ret_frame ? f->frame_most : *ret_frame;
    return true;
}

static void take_samples(struct fb_json_in *in, struct file *f, struct part *part)
{
    for (fb_json_in_array(in); fb_json_in_item(in);) {
        uint32_t node = 0, frame;
        int64_t v;

        for (fb_json_in_array(in); fb_json_in_next_int(in, &v);) {
            if (!take_number(in, f, v, &frame))
                return;
            node = fb_calltree_child(&f->tree, node, frame);
        }
        fb_vec_reserve(&part->nodes, &part->nodes_room, part->nodes_count + 1, sizeof *part->nodes);
        part->nodes[part->nodes_count++] = node;
    }
}

static void take_weights(struct fb_json_in *in, struct part *part)
{
    double v;

    for (fb_json_in_array(in); fb_json_in_item(in) && fb_json_in_double(in, &v);) {
        fb_vec_reserve(&part->weights, &part->weights_room, part->weights_count + 1,
                       sizeof *part->weights);
        part->weights[part->weights_count++] = v;
    }
}

static void take_events(struct fb_json_in *in, struct file *f, struct part *part)
{
    struct fb_json_text key, text;

    for (fb_json_in_array(in); fb_json_in_item(in);) {
        struct event e = {0};
        bool has_type = false;
        int64_t v;

        for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
            if (fb_json_text_is(&key, "at")) {
                (void)fb_json_in_double(in, &e.at);
            } else if (fb_json_text_is(&key, "frame")) {
                if (!fb_json_in_int(in, &v) || !take_number(in, f, v, &e.frame))
                    return;
            } else if (fb_json_text_is(&key, "type")) {
                fb_json_in_string_or(in, &text);
                e.opens = fb_json_text_is(&text, "O");
                has_type = e.opens || fb_json_text_is(&text, "C");
            } else {
                fb_json_in_skip(in);
            }
        }
        if (!has_type || e.frame == 0)
            fb_json_in_wrong(in, "an event with 'type' O or C, 'frame' and 'at' was expected");
        fb_vec_reserve(&part->events, &part->events_room, part->events_count + 1,
                       sizeof *part->events);
        part->events[part->events_count++] = e;
    }
}

static void copy_text(struct fb_json_in *in, char *to, size_t room)
{
    struct fb_json_text text;
    size_t n;

    fb_json_in_string_or(in, &text);
    n = text.len < room ? text.len : room - 1;
    memcpy(to, text.text, n);
    to[n] = '\0';
}

static char *take_name(struct fb_json_in *in, char *old)
{
    struct fb_json_text text;

    free(old);
    fb_json_in_string_or(in, &text);
    return fb_strndup(text.text, text.len);
}

static void add_row(struct file *f, struct fb_rounding *rounding, uint32_t node, int64_t time_ns,
                    double amount)
{
    if (amount < 0) {
        f->negative++;
        return;
    }
    fb_tree_row_add(&f->rows, FB_NO_THREAD, node, time_ns, fb_round_next(rounding, amount));
}

/* A time out of range is none. */
static int64_t ns_of(double ns)
{
    return ns > -9.2e18 && ns < 9.2e18 ? (int64_t)ns : 0;
}

/* Spans between events; time with no frame open is no sample. */
static void rows_of_events(struct fb_json_in *in, struct file *f, const struct part *part,
                           double scale)
{
    struct fb_rounding rounding = {0};
    uint32_t node = 0;
    double last = 0;

    for (size_t i = 0; i < part->events_count; i++) {
        const struct event *e = &part->events[i];

        if (i > 0 && e->at < last) {
            fb_json_in_wrong(in, "event %zu of '%s' is at %g, before the one before it", i,
                             part->name, e->at);
            return;
        }
        if (node != 0 && e->at > last)
            add_row(f, &rounding, node, ns_of(last * scale), (e->at - last) * scale);
        last = e->at;
        if (e->opens) {
            node = fb_calltree_child(&f->tree, node, e->frame);
        } else if (node != 0 && f->tree.nodes[node].function == e->frame) {
            node = f->tree.nodes[node].parent;
        } else {
            fb_json_in_wrong(in, "event %zu of '%s' closes frame %u, which is not the innermost", i,
                             part->name, e->frame - 1);
            return;
        }
    }
    if (node != 0)
        fb_json_in_wrong(in, "the last event of '%s' leaves frame %u open", part->name,
                         f->tree.nodes[node].function - 1);
}

static void rows_of_samples(struct fb_json_in *in, struct file *f, const struct part *part,
                            double scale)
{
    struct fb_rounding rounding = {0};

    if (part->weights_count != part->nodes_count) {
        fb_json_in_wrong(in, "'%s' has %zu samples and %zu weights", part->name, part->nodes_count,
                         part->weights_count);
        return;
    }
    for (size_t i = 0; i < part->nodes_count; i++)
        add_row(f, &rounding, part->nodes[i], 0, part->weights[i] * scale);
}

static void part_keep(struct fb_json_in *in, struct file *f, struct part *part)
{
    double ns = fb_unit_ns(part->unit), scale = ns > 0 ? ns : 1;
    struct kept *k;

    fb_vec_reserve(&f->kept, &f->kept_room, f->kept_count + 1, sizeof *f->kept);
    k = &f->kept[f->kept_count++];
    *k = (struct kept){.first_row = f->rows.count};
    memcpy(k->unit, ns > 0 ? "nanoseconds" : part->unit, ns > 0 ? 12 : sizeof k->unit);
    if (strcmp(part->type, "sampled") == 0) {
        rows_of_samples(in, f, part, scale);
    } else if (strcmp(part->type, "evented") == 0) {
        k->has_times = ns > 0;
        rows_of_events(in, f, part, scale);
    } else {
        fb_json_in_wrong(in, "a profile of type '%s', 'sampled' or 'evented' was expected",
                         part->type);
    }
    k->end_row = f->rows.count;
    k->name = part->name;
    part->name = NULL;
}

static void take_part(struct fb_json_in *in, struct file *f)
{
    struct part part = {.name = fb_strdup("")};
    struct fb_json_text key;

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (fb_json_text_is(&key, "name"))
            part.name = take_name(in, part.name);
        else if (fb_json_text_is(&key, "unit"))
            copy_text(in, part.unit, sizeof part.unit);
        else if (fb_json_text_is(&key, "type"))
            copy_text(in, part.type, sizeof part.type);
        else if (fb_json_text_is(&key, "samples"))
            take_samples(in, f, &part);
        else if (fb_json_text_is(&key, "weights"))
            take_weights(in, &part);
        else if (fb_json_text_is(&key, "events"))
            take_events(in, f, &part);
        else
            fb_json_in_skip(in);
    }
    if (f->kept_count >= MOST_PROFILES)
        fb_json_in_wrong(in, "at most %d profiles were expected", MOST_PROFILES);
    else if (!fb_json_in_failed(in))
        part_keep(in, f, &part);
    free(part.name);
    free(part.nodes);
    free(part.weights);
    free(part.events);
}

static void take_file(struct fb_json_in *in, struct file *f)
{
    struct fb_json_text key;

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (fb_json_text_is(&key, "shared"))
            take_shared(in, f);
        else if (fb_json_text_is(&key, "name"))
            f->title = take_name(in, f->title);
        else if (fb_json_text_is(&key, "profiles"))
            for (fb_json_in_array(in); fb_json_in_item(in);)
                take_part(in, f);
        else
            fb_json_in_skip(in);
    }
    fb_json_in_end(in);
}

/* ---- the choice ---- */

static bool name_is_asked(const struct file *f, const char *asked)
{
    for (size_t i = 0; asked && i < f->kept_count; i++) {
        if (strcmp(f->kept[i].name, asked) == 0)
            return true;
    }
    return false;
}

/* The unit that is read, of those that profiles with samples have. */
static enum fb_status choose_unit(const struct file *f, const char *asked, const char **ret_unit,
                                  struct fb_err *err)
{
    struct fb_value_type types[MOST_UNITS];
    size_t n = 0, chosen = 0, k;
    enum fb_status r;

    for (size_t i = 0; i < f->kept_count; i++) {
        const struct kept *kept = &f->kept[i];

        for (k = 0; k < n && strcmp(types[k].name, kept->unit) != 0; k++)
            ;
        if (k == MOST_UNITS)
            return fb_fail(err, FB_ELIMIT, "%s: has profiles of more than %d units", f->name,
                           MOST_UNITS);
        if (k == n)
            types[n++] = (struct fb_value_type){.name = kept->unit, .unit = ""};
        types[k].samples += kept->end_row - kept->first_row;
    }
    r = fb_types_choose(f->name, types, n, asked, FB_TYPES_NO_DEFAULT, &chosen, err);
    if (r == FB_OK)
        *ret_unit = types[chosen].name;
    return r;
}

static void put_profile(struct file *f, const struct kept *k, bool is_thread,
                        const uint32_t *stack_of_node)
{
    struct fb_tree_rows rows = {.items = f->rows.items ? f->rows.items + k->first_row : NULL,
                                .count = k->end_row - k->first_row};
    size_t len = strlen(k->name);
    uint32_t tid, pid, thread = FB_NO_THREAD;

    fb_thread_ids_take(k->name, &len, &tid, &pid);
    if (is_thread || tid != 0) {
        thread = fb_profile_thread_add(f->p, tid, fb_strings_put(&f->p->strings, k->name, len));
        f->p->threads[thread].pid = pid;
    }
    for (size_t i = 0; i < rows.count; i++)
        rows.items[i].thread = thread;
    fb_tree_rows_put(&rows, stack_of_node, f->p);
    f->p->has_times = f->p->has_times && k->has_times;
}

static enum fb_status file_finish(struct file *f, const struct fb_read_options *options,
                                  struct fb_read_report *report, struct fb_err *err)
{
    bool by_name = name_is_asked(f, options->type);
    const char *unit = "";
    uint32_t *stack_of_node;
    size_t chosen = 0;
    enum fb_status r = FB_OK;

    if (f->frame_most > f->frames_count)
        return fb_fail(err, FB_EFORMAT, "%s: frame %u of %zu does not exist", f->name,
                       f->frame_most - 1, f->frames_count);
    if (f->kept_count == 0)
        return fb_fail(err, FB_EFORMAT, "%s: has no 'profiles', those of speedscope were expected",
                       f->name);
    if (!by_name)
        r = choose_unit(f, options->type, &unit, err);
    if (r != FB_OK)
        return r;
    fb_vec_reserve(&f->frame_of, &f->frames_room, 1, sizeof *f->frame_of);
    stack_of_node = fb_tree_stacks(&f->tree, f->frame_of, f->p);
    f->p->has_times = true;
    for (size_t i = 0; i < f->kept_count; i++)
        chosen += by_name ? strcmp(f->kept[i].name, options->type) == 0
                          : strcmp(f->kept[i].unit, unit) == 0;
    for (size_t i = 0; i < f->kept_count; i++) {
        const struct kept *k = &f->kept[i];

        if (by_name ? strcmp(k->name, options->type) != 0 : strcmp(k->unit, unit) != 0)
            continue;
        unit = k->unit;
        put_profile(f, k, chosen > 1, stack_of_node);
    }
    free(stack_of_node);
    f->p->unit = fb_strings_put_z(&f->p->strings,
                                  unit[0] == '\0' || strcmp(unit, "none") == 0 ? "samples" : unit);
    f->p->rows_merged = strcmp(unit, "nanoseconds") != 0;
    f->p->ended = true;
    if (f->title && f->title[0])
        fb_profile_manifest_set(f->p, "name", f->title);
    fb_profile_span_update(f->p);
    report->samples_in = f->p->samples.count + f->negative;
    if (f->negative > 0)
        fb_report_loss(report, "samples of negative weight", f->negative);
    return FB_OK;
}

enum fb_status fb_speedscope_read(struct fb_source *source, const struct fb_read_options *options,
                                  struct fb_profile **ret_p, struct fb_read_report *report,
                                  struct fb_err *err)
{
    struct file f = {.p = fb_profile_new(), .name = fb_source_name(source)};
    struct fb_json_in in;
    enum fb_status r;

    fb_calltree_init(&f.tree);
    fb_json_in_start_source(&in, source);
    take_file(&in, &f);
    r = fb_json_in_failed(&in) ? fb_json_in_fail(&in, f.name, err)
                               : file_finish(&f, options, report, err);
    fb_json_in_done(&in);
    fb_calltree_done(&f.tree);
    for (size_t i = 0; i < f.kept_count; i++)
        free(f.kept[i].name);
    free(f.kept);
    free(f.rows.items);
    free(f.frame_of);
    free(f.title);
    fb_index_done(&f.modules);
    if (r == FB_OK)
        *ret_p = f.p;
    else
        fb_profile_free(f.p);
    return r;
}
