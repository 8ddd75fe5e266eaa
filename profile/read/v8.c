#include "profile/read/v8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "profile/read/tree_rows.h"

enum special { PLAIN, ROOT, IDLE, COLLECTOR };

struct fb_v8_node {
    int64_t id, parent_id; /* parent_id -1: not said */
    uint32_t parent;       /* index; UINT32_MAX none */
    uint32_t frame;
    uint64_t hits;
    enum special special;
};

struct fb_v8_edge { /* "children": [id] */
    uint32_t parent;
    int64_t child_id;
};

void fb_v8_init(struct fb_v8 *v, struct fb_profile *p)
{
    *v = (struct fb_v8){.p = p};
}

void fb_v8_done(struct fb_v8 *v)
{
    free(v->nodes);
    free(v->edges);
    free(v->samples);
    free(v->times);
    *v = (struct fb_v8){0};
}

/* ---- nodes ---- */

struct function {
    struct fb_frame frame;
    bool has_url, says_script, has_script; /* script 0 is V8's own code */
};

static bool take_function_member(struct fb_v8 *v, struct fb_json_in *in, struct function *fn,
                                 const struct fb_json_text *key)
{
    struct fb_json_text text;

    if (fb_json_text_is(key, "functionName")) {
        fb_json_in_string_or(in, &text);
        fn->frame.name = fb_strings_put(&v->p->strings, text.text, text.len);
    } else if (fb_json_text_is(key, "url")) {
        fb_json_in_string_or(in, &text);
        fn->frame.file = fb_strings_put(&v->p->strings, text.text, text.len);
        fn->has_url = text.len > 0;
    } else if (fb_json_text_is(key, "lineNumber")) {
        int64_t line = fb_json_in_int_or(in, -1);

        fn->frame.line = line >= 0 && line < UINT32_MAX ? (uint32_t)line + 1 : 0;
    } else if (fb_json_text_is(key, "scriptId")) {
        fn->says_script = true;
        if (fb_json_in_peek(in) == FB_JSON_STRING) {
            (void)fb_json_in_string(in, &text);
            fn->has_script = !fb_json_text_is(&text, "0");
        } else {
            fn->has_script = fb_json_in_int_or(in, 0) != 0;
        }
    } else {
        return false;
    }
    return true;
}

static bool take_node_member(struct fb_v8 *v, struct fb_json_in *in, struct fb_v8_node *node,
                             struct function *fn, const struct fb_json_text *key)
{
    struct fb_json_text inner;

    if (fb_json_text_is(key, "id"))
        node->id = fb_json_in_int_or(in, -1);
    else if (fb_json_text_is(key, "parent"))
        node->parent_id = fb_json_in_int_or(in, -1);
    else if (fb_json_text_is(key, "hitCount"))
        node->hits = (uint64_t)fmin(9e15, fmax(0, fb_json_in_double_or(in, 0)));
    else if (fb_json_text_is(key, "callFrame") && fb_json_in_peek(in) == FB_JSON_OBJECT)
        for (fb_json_in_object(in); fb_json_in_key(in, &inner);) {
            if (!take_function_member(v, in, fn, &inner))
                fb_json_in_skip(in);
        }
    else
        return take_function_member(v, in, fn, key);
    return true;
}

/* "(anonymous x.js:12)": a function is known by its name, and these are many. */
static uint32_t name_anonymous(struct fb_v8 *v, const struct fb_frame *frame)
{
    const char *url = fb_profile_text(v->p, frame->file), *slash = strrchr(url, '/');
    const char *base = slash ? slash + 1 : url;
    char *name;
    uint32_t id;

    if (base[0] == '\0')
        return fb_strings_put_z(&v->p->strings, "(anonymous)");
    name = fb_format("(anonymous %.*s:%u)", (int)strcspn(base, "?#"), base, frame->line);
    id = fb_strings_put_z(&v->p->strings, name);
    free(name);
    return id;
}

static void node_finish(struct fb_v8 *v, uint32_t index, struct function *fn)
{
    static const struct {
        const char *name;
        enum special special;
    } rows[] = {{"(root)", ROOT}, {"(idle)", IDLE}, {"(garbage collector)", COLLECTOR}};
    struct fb_v8_node *node = &v->nodes[index];
    const char *name = fb_profile_text(v->p, fn->frame.name);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(name, rows[i].name) == 0)
            node->special = rows[i].special;
    }
    if (name[0] == '\0')
        fn->frame.name = name_anonymous(v, &fn->frame);
    fn->frame.kind =
        (fn->says_script ? fn->has_script : fn->has_url) ? FB_FRAME_JS : FB_FRAME_NATIVE;
    node->frame = fb_profile_frame_put(v->p, &fn->frame).n;
}

static uint32_t node_add(struct fb_v8 *v, uint32_t parent)
{
    fb_vec_reserve(&v->nodes, &v->nodes_room, v->nodes_count + 1, sizeof *v->nodes);
    v->nodes[v->nodes_count] = (struct fb_v8_node){.id = -1, .parent_id = -1, .parent = parent};
    return (uint32_t)v->nodes_count++;
}

/* A node whose children may be nested in it to any depth, so without recursion: the nodes that are
 * open are a stack, and the reader is in the list of children of the innermost, or in its members.
 */
struct open_node {
    uint32_t index;
    struct function fn;
};

static void take_children_id(struct fb_v8 *v, struct fb_json_in *in, uint32_t parent)
{
    struct fb_v8_edge edge = {.parent = parent};

    if (!fb_json_in_int(in, &edge.child_id))
        return;
    fb_vec_reserve(&v->edges, &v->edges_room, v->edges_count + 1, sizeof *v->edges);
    v->edges[v->edges_count++] = edge;
}

static void take_node(struct fb_v8 *v, struct fb_json_in *in)
{
    struct open_node *open = NULL;
    size_t room = 0, depth = 0;
    bool in_list = false;
    struct fb_json_text key;

    fb_vec_reserve(&open, &room, 1, sizeof *open);
    if (fb_json_in_object(in))
        open[depth++] = (struct open_node){.index = node_add(v, UINT32_MAX)};
    while (depth > 0 && !fb_json_in_failed(in) && !in->cut) {
        struct open_node *top = &open[depth - 1];

        if (in_list) {
            in_list = fb_json_in_item(in);
            if (in_list && fb_json_in_peek(in) == FB_JSON_NUMBER) {
                take_children_id(v, in, top->index);
            } else if (in_list && fb_json_in_object(in)) {
                uint32_t parent = top->index;

                fb_vec_reserve(&open, &room, depth + 1, sizeof *open);
                open[depth++] = (struct open_node){.index = node_add(v, parent)};
                in_list = false;
            }
        } else if (!fb_json_in_key(in, &key)) {
            node_finish(v, top->index, &top->fn);
            depth--;
            in_list = true;
        } else if (fb_json_text_is(&key, "children")) {
            in_list = fb_json_in_peek(in) == FB_JSON_ARRAY && fb_json_in_array(in);
            if (!in_list)
                fb_json_in_skip(in);
        } else if (!take_node_member(v, in, &v->nodes[top->index], &top->fn, &key)) {
            fb_json_in_skip(in);
        }
    }
    free(open);
}

/* ---- the object ---- */

static void take_ids(struct fb_v8 *v, struct fb_json_in *in)
{
    int64_t id;

    for (fb_json_in_array(in); fb_json_in_next_int(in, &id);) {
        fb_vec_reserve(&v->samples, &v->samples_room, v->samples_count + 1, sizeof *v->samples);
        v->samples[v->samples_count++] = id;
    }
}

static void take_times(struct fb_v8 *v, struct fb_json_in *in)
{
    double us;

    for (fb_json_in_array(in); fb_json_in_item(in) && fb_json_in_double(in, &us);) {
        fb_vec_reserve(&v->times, &v->times_room, v->times_count + 1, sizeof *v->times);
        v->times[v->times_count++] = us;
    }
}

void fb_v8_take(struct fb_v8 *v, struct fb_json_in *in)
{
    struct fb_json_text key;

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        bool is_list = fb_json_in_peek(in) == FB_JSON_ARRAY;

        if (fb_json_text_is(&key, "nodes") && is_list)
            for (fb_json_in_array(in); fb_json_in_item(in);)
                take_node(v, in);
        else if (fb_json_text_is(&key, "head"))
            take_node(v, in);
        else if (fb_json_text_is(&key, "samples") && is_list)
            take_ids(v, in);
        else if (fb_json_text_is(&key, "timeDeltas") && is_list)
            take_times(v, in);
        else if (fb_json_text_is(&key, "timestamps") && is_list) {
            v->are_stamps = true;
            take_times(v, in);
        } else if (fb_json_text_is(&key, "startTime"))
            v->start_us = fb_json_in_double_or(in, v->start_us);
        else if (fb_json_text_is(&key, "cpuProfile") && fb_json_in_peek(in) == FB_JSON_OBJECT &&
                 in->depth < 16)
            fb_v8_take(v, in);
        else
            fb_json_in_skip(in);
    }
}

/* ---- samples ---- */

struct finish {
    struct fb_v8 *v;
    const char *name;
    struct fb_index by_id;
    uint32_t *stacks; /* by node */
    uint32_t thread;
    bool by_samples; /* weights are 1 */
    struct fb_read_report *report;
};

static uint32_t node_by_id(const struct finish *f, int64_t id)
{
    struct fb_index_cursor at = fb_index_seek(&f->by_id, fb_hash_mix((uint64_t)id));
    uint32_t index;

    while (fb_index_step(&f->by_id, &at, &index)) {
        if (f->v->nodes[index].id == id)
            return index;
    }
    return UINT32_MAX;
}

static enum fb_status link_nodes(struct finish *f, struct fb_err *err)
{
    struct fb_v8 *v = f->v;
    uint32_t *parent = fb_alloc_array(v->nodes_count, sizeof *parent);
    uint32_t *frame = fb_alloc_array(v->nodes_count, sizeof *frame);

    for (uint32_t i = 0; i < v->nodes_count; i++) {
        if (node_by_id(f, v->nodes[i].id) == UINT32_MAX)
            fb_index_add(&f->by_id, fb_hash_mix((uint64_t)v->nodes[i].id), i);
        parent[i] = v->nodes[i].parent;
        frame[i] = v->nodes[i].frame;
    }
    for (uint32_t i = 0; i < v->nodes_count; i++) {
        if (v->nodes[i].parent_id >= 0 && parent[i] == UINT32_MAX)
            parent[i] = node_by_id(f, v->nodes[i].parent_id);
    }
    for (size_t i = 0; i < v->edges_count; i++) {
        uint32_t child = node_by_id(f, v->edges[i].child_id);

        if (child != UINT32_MAX)
            parent[child] = v->edges[i].parent;
    }
    for (uint32_t i = 0; i < v->nodes_count; i++) {
        if (v->nodes[i].special != ROOT)
            continue;
        if (parent[i] == UINT32_MAX)
            frame[i] = 0;
        else
            v->nodes[i].special = PLAIN; /* a function of that name */
    }
    f->stacks = fb_stacks_of_nodes(v->p, parent, frame, v->nodes_count);
    free(parent);
    free(frame);
    return f->stacks
               ? FB_OK
               : fb_fail(err, FB_EFORMAT, "%s: a node of the profile is its own ancestor", f->name);
}

/* The time of sample i in us, of the clock's start. */
static double time_next(const struct fb_v8 *v, size_t i, double last)
{
    if (v->times_count == 0)
        return 0;
    if (v->are_stamps)
        return v->times[i];
    return (i == 0 ? v->start_us : last) + v->times[i];
}

static const double LATEST_US = 4.6e15; /* 146 years in either direction */

static int64_t ns_of(double us)
{
    return (int64_t)nearbyint(us * 1000);
}

static enum fb_status put_samples(struct finish *f, struct fb_err *err)
{
    struct fb_v8 *v = f->v;
    uint32_t last_stack = 0;
    double raw = 0, at = 0;
    uint64_t idle = 0, unknown = 0;

    for (size_t i = 0; i < v->samples_count; i++) {
        uint32_t node = node_by_id(f, v->samples[i]), stack;
        double next_raw = raw, next;
        enum special special;

        if (i == 0)
            at = raw = next_raw = time_next(v, 0, 0);
        if (i + 1 < v->samples_count)
            next_raw = time_next(v, i + 1, raw);
        next = next_raw > at ? next_raw : at;
        if (!(at > -LATEST_US && next < LATEST_US))
            return fb_fail(err, FB_EFORMAT,
                           "%s: sample %zu is at %g us, a time within %g us was expected", f->name,
                           i, at > -LATEST_US && at < LATEST_US ? next : at, LATEST_US);
        stack = node != UINT32_MAX ? f->stacks[node] : 0;
        special = node != UINT32_MAX ? v->nodes[node].special : PLAIN;
        if (special == ROOT && i + 1 == v->samples_count && i > 0) {
            f->report->samples_in--; /* the end of the time line, and no sample */
            break;
        }
        if (special == COLLECTOR)
            stack = fb_profile_stack_put(v->p, (fb_stack_id){last_stack},
                                         (fb_frame_id){v->nodes[node].frame})
                        .n;
        else
            last_stack = special == IDLE ? 0 : stack;
        unknown += node == UINT32_MAX;
        idle += special == IDLE;
        if (node == UINT32_MAX || special == IDLE)
            ; /* time passes all the same */
        else
            fb_profile_sample_add(v->p, ns_of(at), f->thread, (fb_stack_id){stack},
                                  f->by_samples ? 1 : (uint64_t)(ns_of(next) - ns_of(at)));
        at = next;
        raw = next_raw;
    }
    f->report->samples_in += v->samples_count;
    if (idle > 0)
        fb_report_loss(f->report, "samples of an idle thread", idle);
    if (unknown > 0)
        fb_report_loss(f->report, "samples of a node that the file does not have", unknown);
    return FB_OK;
}

static void put_hits(struct finish *f)
{
    for (size_t i = 0; i < f->v->nodes_count; i++) {
        const struct fb_v8_node *node = &f->v->nodes[i];

        if (node->hits == 0)
            continue;
        f->report->samples_in++;
        if (node->special == IDLE)
            fb_report_loss(f->report, "samples of an idle thread", 1);
        else
            fb_profile_sample_add(f->v->p, 0, f->thread, (fb_stack_id){f->stacks[i]}, node->hits);
    }
}

static enum fb_status check(const struct finish *f, struct fb_err *err)
{
    const struct fb_v8 *v = f->v;

    if (v->nodes_count == 0)
        return fb_fail(err, FB_EFORMAT, "%s: has no nodes, those of a CPU profile were expected",
                       f->name);
    if (v->nodes_count >= UINT32_MAX - 1)
        return fb_fail(err, FB_ELIMIT, "%s: has %zu nodes", f->name, v->nodes_count);
    if (v->times_count > 0 && v->times_count < v->samples_count)
        return fb_fail(err, FB_EFORMAT, "%s: has %zu samples and times of %zu of them", f->name,
                       v->samples_count, v->times_count);
    return FB_OK;
}

enum fb_status fb_v8_finish(struct fb_v8 *v, const char *name, uint32_t thread,
                            const struct fb_read_options *options, struct fb_read_report *report,
                            struct fb_err *err)
{
    struct finish f = {.v = v, .name = name, .thread = thread, .report = report};
    struct fb_profile *p = v->p;
    enum fb_status r = check(&f, err);

    f.by_samples = options->weight == FB_WEIGHT_SAMPLES || v->times_count == 0;
    if (r == FB_OK)
        r = link_nodes(&f, err);
    if (r == FB_OK && v->samples_count > 0) {
        r = put_samples(&f, err);
        p->has_times = v->times_count > 0;
    } else if (r == FB_OK) {
        put_hits(&f);
        p->rows_merged = 1;
    }
    if (r == FB_OK) {
        p->unit = fb_strings_put_z(&p->strings, f.by_samples ? "samples" : "nanoseconds");
        p->ended = true;
    }
    free(f.stacks);
    fb_index_done(&f.by_id);
    return r;
}
