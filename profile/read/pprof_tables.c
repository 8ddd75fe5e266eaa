/* One pass collects slices of the file; ids are looked up when all are known, since nothing in the
 * format says which comes first. */
#include "profile/read/pprof_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

enum { DENSE_PER_ID = 8, DENSE_LEAST = 1024, HEX_MOST = 128 };

/* ---- ids ---- */

static void ids_add(struct fb_pprof_ids *ids, uint64_t id)
{
    fb_vec_reserve(&ids->ids, &ids->room, ids->count + 1, sizeof *ids->ids);
    ids->ids[ids->count++] = id;
}

uint32_t fb_pprof_ids_find(const struct fb_pprof_ids *ids, uint64_t id)
{
    struct fb_index_cursor at;
    uint32_t i;

    if (id < ids->dense_count)
        return ids->dense[id];
    at = fb_index_seek(&ids->sparse, fb_hash_mix(id));
    while (fb_index_step(&ids->sparse, &at, &i)) {
        if (ids->ids[i] == id)
            return i;
    }
    return UINT32_MAX;
}

/* After the last id: fills the array, or the hash for ids beyond it.  The first of two with the
 * same id counts. */
static void ids_finish(struct fb_pprof_ids *ids)
{
    uint64_t most = 0, dense = (uint64_t)ids->count * DENSE_PER_ID + DENSE_LEAST;

    for (size_t i = 0; i < ids->count; i++)
        most = ids->ids[i] > most && ids->ids[i] < dense ? ids->ids[i] : most;
    ids->dense_count = ids->count > 0 ? (size_t)most + 1 : 0;
    ids->dense = fb_alloc_array(ids->dense_count, sizeof *ids->dense);
    for (size_t i = 0; i < ids->dense_count; i++)
        ids->dense[i] = UINT32_MAX;
    for (size_t i = 0; i < ids->count; i++) {
        if (ids->ids[i] >= ids->dense_count)
            fb_index_add(&ids->sparse, fb_hash_mix(ids->ids[i]), (uint32_t)i);
        else if (ids->ids[i] != 0 && ids->dense[ids->ids[i]] == UINT32_MAX)
            ids->dense[ids->ids[i]] = (uint32_t)i;
    }
}

static void ids_done(struct fb_pprof_ids *ids)
{
    free(ids->ids);
    free(ids->dense);
    fb_index_done(&ids->sparse);
}

/* ---- messages ---- */

static bool read_type(const struct fb_proto_field *field, struct fb_pprof_type *ret)
{
    struct fb_wire_in in = {.data = field->data, .len = field->len};
    struct fb_proto_field f;

    *ret = (struct fb_pprof_type){0};
    while (fb_proto_next(&in, &f)) {
        if (f.number == 1)
            ret->type = f.value;
        else if (f.number == 2)
            ret->unit = f.value;
    }
    return field->wire == FB_PROTO_BYTES && !in.bad;
}

static bool read_mapping(struct fb_pprof_tables *t, const struct fb_proto_field *field)
{
    struct fb_wire_in in = {.data = field->data, .len = field->len};
    struct fb_pprof_mapping m = {0};
    struct fb_proto_field f;
    uint64_t id = 0;

    while (fb_proto_next(&in, &f)) {
        uint64_t *const members[] = {NULL,      &id,         &m.start,   &m.limit,
                                     &m.offset, &m.filename, &m.build_id};

        if (f.number < sizeof members / sizeof members[0] && f.wire == FB_PROTO_VARINT)
            *members[f.number] = f.value;
    }
    fb_vec_reserve(&t->mappings, &t->mappings_room, t->mapping_ids.count + 1, sizeof m);
    t->mappings[t->mapping_ids.count] = m;
    ids_add(&t->mapping_ids, id);
    return !in.bad;
}

static bool read_function(struct fb_pprof_tables *t, const struct fb_proto_field *field)
{
    struct fb_wire_in in = {.data = field->data, .len = field->len};
    struct fb_pprof_function fn = {0};
    struct fb_proto_field f;
    uint64_t id = 0;

    while (fb_proto_next(&in, &f)) {
        if (f.wire != FB_PROTO_VARINT)
            continue;
        if (f.number == 1)
            id = f.value;
        else if (f.number == 2)
            fn.name = f.value;
        else if (f.number == 3)
            fn.system_name = f.value;
        else if (f.number == 4)
            fn.filename = f.value;
    }
    fb_vec_reserve(&t->functions, &t->functions_room, t->function_ids.count + 1, sizeof fn);
    t->functions[t->function_ids.count] = fn;
    ids_add(&t->function_ids, id);
    return !in.bad;
}

/* The lines are read by resolve. */
static bool read_location(struct fb_pprof_tables *t, const struct fb_proto_field *field)
{
    struct fb_wire_in in = {.data = field->data, .len = field->len};
    struct fb_pprof_location l = {.message = {field->data, field->len}};
    struct fb_proto_field f;
    uint64_t id = 0;

    while (fb_proto_next(&in, &f)) {
        if (f.wire != FB_PROTO_VARINT)
            continue;
        if (f.number == 1)
            id = f.value;
        else if (f.number == 2)
            l.mapping = f.value;
        else if (f.number == 3)
            l.address = f.value;
    }
    fb_vec_reserve(&t->locations, &t->locations_room, t->location_ids.count + 1, sizeof l);
    t->locations[t->location_ids.count] = l;
    ids_add(&t->location_ids, id);
    return !in.bad;
}

static bool add_string(struct fb_pprof_tables *t, const struct fb_proto_field *f)
{
    fb_vec_reserve(&t->strings, &t->strings_room, t->strings_count + 1, sizeof *t->strings);
    t->strings[t->strings_count++] = (struct fb_pprof_bytes){f->data, f->len};
    return t->strings_count < UINT32_MAX;
}

static bool add_comments(struct fb_pprof_tables *t, const struct fb_proto_field *f)
{
    struct fb_wire_in rest = {0};
    uint64_t comment;

    while (fb_proto_numbers(f, &rest, &comment)) {
        fb_vec_reserve(&t->comments, &t->comments_room, t->comments_count + 1, sizeof *t->comments);
        t->comments[t->comments_count++] = comment;
    }
    return !rest.bad;
}

static bool add_type(struct fb_pprof_tables *t, const struct fb_proto_field *f)
{
    fb_vec_reserve(&t->types, &t->types_room, t->types_count + 1, sizeof *t->types);
    return read_type(f, &t->types[t->types_count++]);
}

static void read_number(struct fb_pprof_tables *t, const struct fb_proto_field *f)
{
    if (f->number == PPROF_DROP_FRAMES)
        t->drop_frames = f->value;
    else if (f->number == PPROF_KEEP_FRAMES)
        t->keep_frames = f->value;
    else if (f->number == PPROF_TIME)
        t->time_ns = (int64_t)f->value;
    else if (f->number == PPROF_DURATION)
        t->duration_ns = (int64_t)f->value;
    else if (f->number == PPROF_PERIOD)
        t->period = (int64_t)f->value;
    else if (f->number == PPROF_DEFAULT_TYPE)
        t->default_type = f->value;
    else if (f->number == PPROF_DOC_URL)
        t->doc_url = f->value;
}

static bool read_field(struct fb_pprof_tables *t, const struct fb_proto_field *f)
{
    if (f->number == PPROF_COMMENT)
        return add_comments(t, f);
    if (f->wire == FB_PROTO_VARINT)
        read_number(t, f);
    if (f->wire != FB_PROTO_BYTES)
        return true;
    switch (f->number) {
    case PPROF_SAMPLE_TYPE:
        return add_type(t, f);
    case PPROF_SAMPLE:
        t->samples++;
        return true;
    case PPROF_MAPPING:
        return read_mapping(t, f);
    case PPROF_LOCATION:
        return read_location(t, f);
    case PPROF_FUNCTION:
        return read_function(t, f);
    case PPROF_STRING:
        return add_string(t, f);
    case PPROF_PERIOD_TYPE:
        return read_type(f, &t->period_type);
    default:
        return true;
    }
}

enum fb_status fb_pprof_tables_read(struct fb_pprof_tables *t, const void *bytes, size_t n,
                                    const char *name, struct fb_profile *p, struct fb_err *err)
{
    struct fb_wire_in in = {.data = bytes, .len = n};
    struct fb_proto_field f;

    *t = (struct fb_pprof_tables){.name = name, .p = p};
    while (fb_proto_next(&in, &f)) {
        if (!read_field(t, &f))
            return fb_fail(err, FB_EFORMAT,
                           "%s: byte %zu: field %u is damaged, a message of profile.proto was "
                           "expected",
                           name, (size_t)(f.data ? f.data - in.data : 0), f.number);
    }
    if (in.bad)
        return fb_fail(err, FB_EFORMAT,
                       "%s: byte %zu of %zu: a whole field of profile.proto was expected (is the "
                       "file cut?)",
                       name, in.pos, n);
    ids_finish(&t->mapping_ids);
    ids_finish(&t->function_ids);
    ids_finish(&t->location_ids);
    t->string_ids = fb_alloc_array(t->strings_count, sizeof *t->string_ids);
    for (size_t i = 0; i < t->strings_count; i++)
        t->string_ids[i] = UINT32_MAX;
    return FB_OK;
}

void fb_pprof_tables_done(struct fb_pprof_tables *t)
{
    ids_done(&t->mapping_ids);
    ids_done(&t->function_ids);
    ids_done(&t->location_ids);
    free(t->strings);
    free(t->string_ids);
    free(t->mappings);
    free(t->functions);
    free(t->locations);
    free(t->frames);
    free(t->lines);
    free(t->only_frame);
    free(t->types);
    free(t->comments);
}

/* ---- what they refer to ---- */

uint32_t fb_pprof_string(struct fb_pprof_tables *t, uint64_t index)
{
    if (index >= t->strings_count)
        return 0;
    if (t->string_ids[index] == UINT32_MAX)
        t->string_ids[index] = fb_strings_put(&t->p->strings, (const char *)t->strings[index].data,
                                              t->strings[index].len);
    return t->string_ids[index];
}

static enum fb_status need_string(const struct fb_pprof_tables *t, const char *of, uint64_t id,
                                  uint64_t index, struct fb_err *err)
{
    if (index < t->strings_count || index == 0)
        return FB_OK;
    return fb_fail(err, FB_EFORMAT, "%s: %s %llu: string %llu of %zu does not exist", t->name, of,
                   (unsigned long long)id, (unsigned long long)index, t->strings_count);
}

/* A build ID in hex, else none: other profilers put other texts there. */
static uint32_t build_id_of(struct fb_pprof_tables *t, uint64_t index)
{
    char text[HEX_MOST];
    size_t n = index < t->strings_count ? t->strings[index].len : 0;

    if (n == 0 || n > sizeof text || n % 2 != 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        text[i] = (char)(t->strings[index].data[i] | 0x20);
        if (!(text[i] >= '0' && text[i] <= '9') && !(text[i] >= 'a' && text[i] <= 'f'))
            return 0;
    }
    return fb_strings_put(&t->p->strings, text, n);
}

static enum fb_status resolve_mapping(struct fb_pprof_tables *t, size_t i, struct fb_err *err)
{
    struct fb_pprof_mapping *m = &t->mappings[i];
    struct fb_module module = {.start = m->start,
                               .end = m->limit,
                               .offset = m->offset,
                               .bias = m->start - m->offset,
                               .unload_ns = INT64_MAX};
    enum fb_status r = need_string(t, "mapping", t->mapping_ids.ids[i], m->filename, err);
    const char *path;

    if (r != FB_OK)
        return r;
    module.path = fb_pprof_string(t, m->filename);
    module.build_id = build_id_of(t, m->build_id);
    path = fb_profile_text(t->p, module.path);
    m->is_kernel = strncmp(path, "[kernel", 7) == 0 || strncmp(path, "[guest.kernel", 13) == 0 ||
                   strstr(path, "vmlinux");
    if ((module.path == 0 && module.build_id == 0) || (m->is_kernel && m->limit == 0))
        return FB_OK; /* nothing that a frame's kind does not say */
    module.by_offset = !m->is_kernel && m->limit > m->start;
    if (!module.by_offset)
        module.bias = module.offset = 0;
    m->module = fb_profile_module_add(t->p, &module);
    return FB_OK;
}

/* The frame of a location, without a name. */
static enum fb_status location_frame(const struct fb_pprof_tables *t,
                                     const struct fb_pprof_location *l, uint64_t id,
                                     struct fb_frame *ret, struct fb_err *err)
{
    uint32_t at = l->mapping ? fb_pprof_ids_find(&t->mapping_ids, l->mapping) : UINT32_MAX;
    const struct fb_pprof_mapping *m = at == UINT32_MAX ? NULL : &t->mappings[at];

    if (l->mapping && !m)
        return fb_fail(err, FB_EFORMAT, "%s: location %llu: mapping %llu does not exist", t->name,
                       (unsigned long long)id, (unsigned long long)l->mapping);
    *ret = (struct fb_frame){.kind = FB_FRAME_NATIVE, .address = l->address};
    if (!m)
        return FB_OK;
    ret->kind = m->is_kernel ? FB_FRAME_KERNEL : FB_FRAME_NATIVE;
    ret->module = m->module;
    if (m->module && t->p->modules[m->module].by_offset && l->address != 0)
        ret->address = l->address - t->p->modules[m->module].bias;
    return FB_OK;
}

/* One line of a location as a frame; `base` is the location's. */
static enum fb_status line_frame(struct fb_pprof_tables *t, struct fb_pprof_bytes message,
                                 uint64_t id, const struct fb_frame *base, struct fb_frame *ret,
                                 struct fb_err *err)
{
    struct fb_wire_in in = {.data = message.data, .len = message.len};
    struct fb_proto_field f;
    uint64_t function = 0;
    uint32_t at;

    *ret = *base;
    while (fb_proto_next(&in, &f)) {
        if (f.number == 1)
            function = f.value;
        else if (f.number == 2 && (int64_t)f.value > 0 && f.value < INT32_MAX)
            ret->line = (uint32_t)f.value;
    }
    if (in.bad)
        return fb_fail(err, FB_EFORMAT, "%s: location %llu: a line is damaged", t->name,
                       (unsigned long long)id);
    if (function == 0)
        return FB_OK;
    at = fb_pprof_ids_find(&t->function_ids, function);
    if (at == UINT32_MAX)
        return fb_fail(err, FB_EFORMAT, "%s: location %llu: function %llu does not exist", t->name,
                       (unsigned long long)id, (unsigned long long)function);
    ret->name = fb_pprof_string(t, t->functions[at].name);
    if (ret->name == 0)
        ret->name = fb_pprof_string(t, t->functions[at].system_name);
    ret->file = fb_pprof_string(t, t->functions[at].filename);
    return FB_OK;
}

static void add_frame(struct fb_pprof_tables *t, struct fb_pprof_location *l,
                      const struct fb_frame *frame)
{
    fb_vec_reserve(&t->frames, &t->frames_room, t->frames_count + 1, sizeof *t->frames);
    t->frames[t->frames_count++] = fb_profile_frame_put(t->p, frame);
    l->frames_count++;
}

/* The frames of a location: its lines from the last (the function that was not inlined) to the
 * first, or one without a name. */
static enum fb_status resolve_location(struct fb_pprof_tables *t, size_t i, struct fb_err *err)
{
    struct fb_pprof_location *l = &t->locations[i];
    struct fb_wire_in in = {.data = l->message.data, .len = l->message.len};
    uint64_t id = t->location_ids.ids[i];
    size_t lines = 0;
    struct fb_proto_field f;
    struct fb_frame base;
    enum fb_status r = location_frame(t, l, id, &base, err);

    while (r == FB_OK && fb_proto_next(&in, &f)) {
        struct fb_pprof_bytes message = {f.data, f.len};

        if (f.number != 4 || f.wire != FB_PROTO_BYTES)
            continue;
        fb_vec_reserve(&t->lines, &t->lines_room, lines + 1, sizeof *t->lines);
        r = line_frame(t, message, id, &base, &t->lines[lines++], err);
    }
    if (r != FB_OK)
        return r;
    l->frames_first = t->frames_count;
    if (lines == 0)
        add_frame(t, l, &base);
    for (size_t k = lines; k-- > 0;) {
        if (k + 1 < lines && base.kind == FB_FRAME_NATIVE)
            t->lines[k].kind = FB_FRAME_INLINED;
        add_frame(t, l, &t->lines[k]);
    }
    return FB_OK;
}

static enum fb_status check_strings(const struct fb_pprof_tables *t, struct fb_err *err)
{
    enum fb_status r = FB_OK;

    if (t->strings_count > 0 && t->strings[0].len != 0)
        return fb_fail(err, FB_EFORMAT, "%s: string 0 is not empty, as it was expected", t->name);
    for (size_t i = 0; i < t->types_count && r == FB_OK; i++) {
        r = need_string(t, "sample type", i, t->types[i].type, err);
        if (r == FB_OK)
            r = need_string(t, "sample type", i, t->types[i].unit, err);
    }
    for (size_t i = 0; i < t->function_ids.count && r == FB_OK; i++) {
        uint64_t id = t->function_ids.ids[i];

        r = need_string(t, "function", id, t->functions[i].name, err);
        if (r == FB_OK)
            r = need_string(t, "function", id, t->functions[i].system_name, err);
        if (r == FB_OK)
            r = need_string(t, "function", id, t->functions[i].filename, err);
    }
    return r;
}

enum fb_status fb_pprof_tables_resolve(struct fb_pprof_tables *t, struct fb_err *err)
{
    enum fb_status r = check_strings(t, err);

    for (size_t i = 0; i < t->mapping_ids.count && r == FB_OK; i++)
        r = resolve_mapping(t, i, err);
    for (size_t i = 0; i < t->location_ids.count && r == FB_OK; i++)
        r = resolve_location(t, i, err);
    t->only_frame = fb_alloc_array(t->location_ids.dense_count, sizeof *t->only_frame);
    for (size_t id = 0; id < t->location_ids.dense_count && r == FB_OK; id++) {
        uint32_t at = t->location_ids.dense[id];

        if (at != UINT32_MAX && t->locations[at].frames_count == 1)
            t->only_frame[id] = t->frames[t->locations[at].frames_first];
    }
    return r;
}
