#include "profile/write/pprof.h"

#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "base/hash.h"
#include "base/proto.h"
#include "base/utf8.h"
#include "base/vec.h"

/* A location is a frame, or a frame that was inlined into the location `base`. */
struct location {
    uint32_t base, frame; /* base 0: none */
    bool used;
};

struct row {
    uint32_t stack, thread, labels;
    uint64_t weight;
};

struct writer {
    const struct fb_profile *p;
    fb_canonical_fn canonical;
    struct fb_buf *out;
    struct fb_strings strings;  /* of the file */
    struct location *locations; /* [0] is none */
    size_t locations_count, locations_room;
    struct fb_index location_index;
    uint32_t *location_of_stack, *up_of_stack; /* the stack outside of the stack's location */
    uint32_t *function_of_frame;               /* 0: has no name */
    uint32_t functions_count;
    struct fb_index function_index;
    struct function {
        uint32_t name, system_name, file;
    } * functions; /* [0] is none */
    size_t functions_room;
    struct row *rows;
    size_t rows_count, rows_room;
    uint32_t kernel_mapping; /* for kernel frames without a module; 0 none */
};

/* ---- protobuf ---- */

static void put_varint(struct fb_buf *out, uint64_t v)
{
    uint8_t bytes[FB_WIRE_VARINT_MAX];
    struct fb_wire_out wire = {.data = bytes, .cap = sizeof bytes};

    fb_wire_put_varint(&wire, v);
    fb_buf_add(out, bytes, wire.len);
}

static void put_number(struct fb_buf *out, uint32_t field, uint64_t v)
{
    if (v == 0) /* the default is not written */
        return;
    put_varint(out, field << 3 | FB_PROTO_VARINT);
    put_varint(out, v);
}

static void put_bytes(struct fb_buf *out, uint32_t field, const void *bytes, size_t n)
{
    put_varint(out, field << 3 | FB_PROTO_BYTES);
    put_varint(out, n);
    if (n > 0)
        fb_buf_add(out, bytes, n);
}

/* Takes the message in `m` and empties it. */
static void put_message(struct fb_buf *out, uint32_t field, struct fb_buf *m)
{
    put_bytes(out, field, m->data, m->len);
    m->len = 0;
}

/* ---- strings ---- */

/* The string in the file's table, made UTF-8 where it is not. */
static uint32_t put_text(struct writer *w, const char *text, size_t len)
{
    struct fb_buf clean = {0};
    uint32_t id;

    if (fb_utf8_valid(text, len))
        return fb_strings_put(&w->strings, text, len);
    for (size_t at = 0; at < len;) {
        size_t from = at;

        if (fb_utf8_next(text, len, &at) == 0xfffd && at - from == 1)
            fb_buf_printf(&clean, "\\x%02x", (unsigned)(unsigned char)text[from]);
        else
            fb_buf_add(&clean, text + from, at - from);
    }
    id = fb_strings_put(&w->strings, clean.data, clean.len);
    fb_buf_done(&clean);
    return id;
}

static uint32_t put_text_z(struct writer *w, const char *text)
{
    return put_text(w, text, strlen(text));
}

static uint32_t put_string(struct writer *w, uint32_t id)
{
    return put_text(w, w->p->strings.items[id].text, w->p->strings.items[id].len);
}

/* ---- functions ---- */

static uint32_t put_function(struct writer *w, const struct function *f)
{
    uint64_t hash = fb_hash_pair((uint64_t)f->name << 32 | f->system_name, f->file);
    struct fb_index_cursor at = fb_index_seek(&w->function_index, hash);
    uint32_t id;

    while (fb_index_step(&w->function_index, &at, &id)) {
        if (w->functions[id].name == f->name && w->functions[id].system_name == f->system_name &&
            w->functions[id].file == f->file)
            return id;
    }
    id = ++w->functions_count;
    fb_vec_reserve(&w->functions, &w->functions_room, (size_t)id + 1, sizeof *w->functions);
    w->functions[id] = *f;
    fb_index_add(&w->function_index, hash, id);
    return id;
}

static void make_functions(struct writer *w)
{
    struct fb_buf name = {0};

    w->function_of_frame = fb_alloc_array(w->p->frames_count, sizeof *w->function_of_frame);
    for (size_t i = 1; i < w->p->frames_count; i++) {
        const struct fb_frame *f = &w->p->frames[i];
        const struct fb_string *raw = &w->p->strings.items[f->name];
        struct function fn = {.system_name = put_string(w, f->name),
                              .file = put_string(w, f->file)};

        if (f->name == 0)
            continue;
        name.len = 0;
        if (w->canonical)
            w->canonical(raw->text, raw->len, f->kind, &name);
        fn.name = name.len > 0 ? put_text(w, name.data, name.len) : fn.system_name;
        w->function_of_frame[i] = put_function(w, &fn);
    }
    fb_buf_done(&name);
}

/* ---- locations ---- */

static uint32_t location_put(struct writer *w, uint32_t base, uint32_t frame)
{
    uint64_t hash = fb_hash_pair(base, frame);
    struct fb_index_cursor at = fb_index_seek(&w->location_index, hash);
    uint32_t id;

    while (fb_index_step(&w->location_index, &at, &id)) {
        if (w->locations[id].base == base && w->locations[id].frame == frame)
            return id;
    }
    fb_vec_reserve(&w->locations, &w->locations_room, w->locations_count + 1, sizeof *w->locations);
    id = (uint32_t)w->locations_count++;
    w->locations[id] = (struct location){.base = base, .frame = frame};
    fb_index_add(&w->location_index, hash, id);
    return id;
}

/* Whether the frame was inlined into the location whose innermost frame is `outer`. */
static bool is_inlined_into(const struct fb_frame *f, const struct fb_frame *outer)
{
    return f->kind == FB_FRAME_INLINED && f->module == outer->module &&
           f->address == outer->address && outer->kind != FB_FRAME_MARK;
}

/* Parents come before their children, so one pass knows the location of every stack. */
static void make_locations(struct writer *w)
{
    const struct fb_profile *p = w->p;

    w->location_of_stack = fb_alloc_array(p->stacks_count, sizeof *w->location_of_stack);
    w->up_of_stack = fb_alloc_array(p->stacks_count, sizeof *w->up_of_stack);
    fb_vec_reserve(&w->locations, &w->locations_room, 1, sizeof *w->locations);
    w->locations[w->locations_count++] = (struct location){0};
    for (size_t i = 1; i < p->stacks_count; i++) {
        uint32_t parent = p->stacks[i].parent.n, frame = p->stacks[i].frame.n;
        const struct fb_frame *f = &p->frames[frame];

        if (parent != 0 && is_inlined_into(f, &p->frames[p->stacks[parent].frame.n])) {
            w->location_of_stack[i] = location_put(w, w->location_of_stack[parent], frame);
            w->up_of_stack[i] = w->up_of_stack[parent];
        } else {
            w->location_of_stack[i] = location_put(w, 0, frame);
            w->up_of_stack[i] = parent;
        }
    }
}

static uint64_t address_of(const struct writer *w, const struct fb_frame *f)
{
    return f->address == 0 ? 0 : f->address + w->p->modules[f->module].bias;
}

/* Ids of mappings are those of modules; one more stands for the kernel. */
static uint32_t mapping_of(const struct writer *w, const struct fb_frame *f)
{
    if (f->module != FB_NO_MODULE)
        return f->module;
    return f->kind == FB_FRAME_KERNEL ? w->kernel_mapping : 0;
}

static void write_locations(struct writer *w, struct fb_buf *out)
{
    struct fb_buf message = {0}, line = {0};

    for (uint32_t i = 1; i < w->locations_count; i++) {
        const struct fb_frame *f = &w->p->frames[w->locations[i].frame];

        if (!w->locations[i].used)
            continue;
        put_number(&message, 1, i);
        put_number(&message, 2, mapping_of(w, f));
        put_number(&message, 3, address_of(w, f));
        for (uint32_t k = i; k != 0; k = w->locations[k].base) {
            uint32_t frame = w->locations[k].frame;

            if (w->function_of_frame[frame] == 0)
                continue;
            put_number(&line, 1, w->function_of_frame[frame]);
            put_number(&line, 2, w->p->frames[frame].line);
            put_message(&message, 4, &line);
        }
        put_message(out, 4, &message);
    }
    fb_buf_done(&message);
    fb_buf_done(&line);
}

static void write_functions(const struct writer *w, struct fb_buf *out)
{
    struct fb_buf message = {0};

    for (uint32_t i = 1; i <= w->functions_count; i++) {
        put_number(&message, 1, i);
        put_number(&message, 2, w->functions[i].name);
        put_number(&message, 3, w->functions[i].system_name);
        put_number(&message, 4, w->functions[i].file);
        put_message(out, 5, &message);
    }
    fb_buf_done(&message);
}

/* ---- mappings ---- */

struct mapping_flags {
    bool used, has_nameless, has_file, has_line, has_inline;
};

static struct mapping_flags *mapping_flags(struct writer *w)
{
    struct mapping_flags *flags = fb_alloc_array(w->p->modules_count + 1, sizeof *flags);

    for (size_t i = 1; i < w->locations_count; i++) {
        const struct fb_frame *f = &w->p->frames[w->locations[i].frame];
        struct mapping_flags *m = &flags[mapping_of(w, f)];

        if (!w->locations[i].used)
            continue;
        m->used = true;
        m->has_nameless = m->has_nameless || f->name == 0;
        m->has_file = m->has_file || f->file != 0;
        m->has_line = m->has_line || f->line != 0;
        m->has_inline = m->has_inline || w->locations[i].base != 0;
    }
    return flags;
}

static void write_mappings(struct writer *w, struct fb_buf *out)
{
    static const struct fb_module none;
    struct mapping_flags *flags = mapping_flags(w);
    struct fb_buf message = {0};

    for (uint32_t i = 1; i <= w->p->modules_count; i++) {
        const struct fb_module *m = i < w->p->modules_count ? &w->p->modules[i] : &none;

        if (!flags[i].used)
            continue;
        put_number(&message, 1, i);
        put_number(&message, 2, m->start);
        put_number(&message, 3, m->end);
        put_number(&message, 4, m->offset);
        put_number(&message, 5,
                   m == &none ? put_text_z(w, "[kernel.kallsyms]") : put_string(w, m->path));
        put_number(&message, 6, put_string(w, m->build_id));
        put_number(&message, 7, !flags[i].has_nameless);
        put_number(&message, 8, flags[i].has_file);
        put_number(&message, 9, flags[i].has_line);
        put_number(&message, 10, flags[i].has_inline);
        put_message(out, 3, &message);
    }
    fb_buf_done(&message);
    free(flags);
}

/* ---- samples ---- */

static void make_rows(struct writer *w)
{
    const struct fb_samples *s = &w->p->samples;
    struct fb_index index = {0};

    for (size_t i = 0; i < s->count; i++) {
        uint32_t labels = fb_profile_sample_labels(w->p, i), k;
        uint64_t hash = fb_hash_pair((uint64_t)s->thread[i] << 32 | s->stack[i], labels);
        struct fb_index_cursor at = fb_index_seek(&index, hash);
        bool found = false;

        while (!found && fb_index_step(&index, &at, &k))
            found = w->rows[k].stack == s->stack[i] && w->rows[k].thread == s->thread[i] &&
                    w->rows[k].labels == labels;
        if (!found) {
            k = (uint32_t)w->rows_count++;
            fb_vec_reserve(&w->rows, &w->rows_room, w->rows_count, sizeof *w->rows);
            w->rows[k] = (struct row){s->stack[i], s->thread[i], labels, 0};
            fb_index_add(&index, hash, k);
        }
        w->rows[k].weight += s->weight[i];
    }
    fb_index_done(&index);
}

static void write_label(struct fb_buf *sample, uint32_t key, uint32_t text, int64_t number,
                        uint32_t unit)
{
    struct fb_buf message = {0};

    put_number(&message, 1, key);
    put_number(&message, 2, text);
    put_number(&message, 3, (uint64_t)number);
    put_number(&message, 4, unit);
    put_message(sample, 3, &message);
    fb_buf_done(&message);
}

static void write_labels(struct writer *w, const struct row *row, struct fb_buf *sample)
{
    const struct fb_thread *t = &w->p->threads[row->thread];
    const struct fb_label_set *set = &w->p->label_sets[row->labels];

    if (t->name != 0)
        write_label(sample, put_text_z(w, "thread"), put_string(w, t->name), 0, 0);
    if (t->tid != 0)
        write_label(sample, put_text_z(w, "tid"), 0, t->tid, 0);
    if (t->pid != 0)
        write_label(sample, put_text_z(w, "pid"), 0, t->pid, 0);
    for (uint32_t i = set->first; i < set->first + set->count; i++) {
        const struct fb_label *l = &w->p->label_items[i];

        write_label(sample, put_string(w, l->key), put_string(w, l->text), l->number,
                    put_string(w, l->unit));
    }
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return b != 0 && a > (uint64_t)INT64_MAX / b ? (uint64_t)INT64_MAX : a * b;
}

static bool is_ticks(const struct fb_profile *p)
{
    return strcmp(fb_profile_text(p, p->unit), "samples") == 0;
}

static void write_samples(struct writer *w, struct fb_buf *out)
{
    struct fb_buf sample = {0}, chain = {0};
    bool two = is_ticks(w->p) && w->p->interval_ns > 0;

    for (size_t i = 0; i < w->rows_count; i++) {
        const struct row *row = &w->rows[i];

        chain.len = 0;
        for (uint32_t s = row->stack; s != 0; s = w->up_of_stack[s]) {
            w->locations[w->location_of_stack[s]].used = true;
            put_varint(&chain, w->location_of_stack[s]);
        }
        if (chain.len > 0)
            put_message(&sample, 1, &chain);
        put_varint(&chain, times(row->weight, 1));
        if (two)
            put_varint(&chain, times(row->weight, w->p->interval_ns));
        put_message(&sample, 2, &chain);
        write_labels(w, row, &sample);
        put_message(out, 2, &sample);
    }
    fb_buf_done(&sample);
    fb_buf_done(&chain);
}

/* ---- the rest ---- */

static void write_type(struct writer *w, struct fb_buf *out, uint32_t field, const char *type,
                       const char *unit)
{
    struct fb_buf message = {0};

    put_number(&message, 1, put_text_z(w, type));
    put_number(&message, 2, put_text_z(w, unit));
    put_message(out, field, &message);
    fb_buf_done(&message);
}

/* What was counted, where the profile does not say so. */
static const char *type_of(const struct fb_profile *p)
{
    const char *unit = fb_profile_text(p, p->unit);

    if (p->type != 0)
        return fb_profile_text(p, p->type);
    if (fb_profile_is_wall(p))
        return "wall";
    return strcmp(unit, "bytes") == 0 ? "space" : "cpu";
}

static void write_types(struct writer *w, struct fb_buf *out)
{
    const struct fb_profile *p = w->p;

    if (!is_ticks(p)) {
        write_type(w, out, 1, type_of(p), fb_profile_text(p, p->unit));
    } else {
        write_type(w, out, 1, "samples", "count");
        if (p->interval_ns > 0)
            write_type(w, out, 1, type_of(p), "nanoseconds");
        put_number(out, 14, put_text_z(w, "samples"));
    }
    if (p->interval_ns > 0 || p->type != 0)
        write_type(w, out, 11, type_of(p), "nanoseconds");
    put_number(out, 12, p->interval_ns);
}

static uint64_t manifest_number(const struct fb_profile *p, const char *key)
{
    const char *text = fb_profile_manifest_get(p, key);

    return text ? strtoull(text, NULL, 10) : 0;
}

static void write_manifest(struct writer *w, struct fb_buf *out)
{
    static const struct {
        const char *key;
        uint32_t field; /* 0: it is another field's */
    } fields[] = {{"pprof.drop_frames", 7}, {"pprof.keep_frames", 8}, {"pprof.doc_url", 15},
                  {"start_wall_ns", 0},     {"duration_ns", 0},       {"interval_ns", 0},
                  {"comment", 13}};
    const struct fb_profile *p = w->p;
    struct fb_buf text = {0};

    for (size_t i = 0; i < p->manifest_count; i++) {
        const char *key = fb_profile_text(p, p->manifest[i].key);
        uint32_t field = UINT32_MAX;

        for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++) {
            if (strcmp(fields[k].key, key) == 0)
                field = fields[k].field;
        }
        if (field != 0 && field != UINT32_MAX)
            put_number(out, field, put_string(w, p->manifest[i].value));
        if (field != UINT32_MAX)
            continue;
        text.len = 0;
        fb_buf_printf(&text, "flamebank.%s=%s", key, fb_profile_text(p, p->manifest[i].value));
        put_number(out, 13, put_text(w, text.data, text.len));
    }
    fb_buf_done(&text);
    put_number(out, 9, p->has_times ? (uint64_t)p->first_ns : manifest_number(p, "start_wall_ns"));
    put_number(out, 10,
               p->has_times ? (uint64_t)(p->last_ns - p->first_ns)
                            : manifest_number(p, "duration_ns"));
}

static void writer_done(struct writer *w)
{
    fb_strings_done(&w->strings);
    fb_index_done(&w->location_index);
    fb_index_done(&w->function_index);
    free(w->locations);
    free(w->location_of_stack);
    free(w->up_of_stack);
    free(w->function_of_frame);
    free(w->functions);
    free(w->rows);
}

void fb_pprof_write(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out)
{
    struct writer w = {.p = p, .canonical = canonical};
    struct fb_buf raw = {0};

    fb_strings_init(&w.strings);
    w.kernel_mapping = (uint32_t)p->modules_count;
    make_functions(&w);
    make_locations(&w);
    make_rows(&w);
    write_types(&w, &raw);
    write_manifest(&w, &raw);
    write_samples(&w, &raw);
    write_mappings(&w, &raw);
    write_locations(&w, &raw);
    write_functions(&w, &raw);
    for (size_t i = 0; i < w.strings.count; i++)
        put_bytes(&raw, 6, w.strings.items[i].text, w.strings.items[i].len);
    fb_gzip_pack(raw.data, raw.len, out);
    fb_buf_done(&raw);
    writer_done(&w);
}
