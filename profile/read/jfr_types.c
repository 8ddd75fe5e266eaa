#include "profile/read/jfr_types.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

enum {
    STEPS_MOST = 1 << 9, /* of one program */
    DEPTH_MOST = 16,     /* of structures in structures, and of elements of the metadata */
    LISTS_MOST = 4,      /* lists of lists */
    NO_SLOT = UINT8_MAX,
};

enum step_kind {
    STEP_VARINT,
    STEP_BYTE,
    STEP_FLOAT,
    STEP_DOUBLE,
    STEP_STRING,
    STEP_STRUCT, /* of a list: each element is a program */
};

struct fb_jfr_step {
    uint8_t kind, slot;
    bool is_list;
    uint32_t program;
};

struct fb_jfr_text fb_jfr_text_read(struct fb_wire_in *in)
{
    struct fb_jfr_text text = {.coding = fb_wire_get_u8(in)};
    uint64_t n;

    if (text.coding > FB_JFR_LATIN1)
        in->bad = true;
    if (in->bad || text.coding <= FB_JFR_EMPTY)
        return text;
    n = fb_jfr_varint(in);
    text.len = (size_t)n;
    if (text.coding == FB_JFR_POOL)
        return text;
    if (n > fb_wire_left(in)) { /* a character has a byte or more */
        in->bad = true;
        return (struct fb_jfr_text){0};
    }
    text.data = in->data + in->pos;
    if (text.coding != FB_JFR_CHARS)
        (void)fb_wire_get_bytes(in, text.len);
    for (size_t i = 0; text.coding == FB_JFR_CHARS && i < text.len; i++)
        (void)fb_jfr_varint(in);
    return text;
}

/* ---- metadata: a tree of elements with attributes ---- */

struct element {
    const char *name, *type, *id;
    bool is_pooled, is_list;
};

static const char *name_at(const struct fb_jfr_classes *c, uint64_t i)
{
    return i < c->names_count ? c->names[i] : "";
}

/* Names of classes and fields are ASCII, in whatever coding: the JDK writes them as UTF-16. */
static const char *copy_name(struct fb_jfr_classes *c, const struct fb_jfr_text *text)
{
    struct fb_wire_in in = {.data = text->data, .len = SIZE_MAX};
    char *name;

    if (text->coding == FB_JFR_UTF8 || text->coding == FB_JFR_LATIN1)
        return fb_arena_copy(&c->arena, text->data, text->len);
    if (text->coding != FB_JFR_CHARS)
        return "";
    name = fb_arena_alloc(&c->arena, text->len + 1);
    for (size_t i = 0; i < text->len; i++) { /* as many as fb_jfr_text_read() has seen */
        uint64_t unit = fb_jfr_varint(&in);

        name[i] = unit < 0x80 ? (char)unit : '?';
    }
    name[text->len] = '\0';
    return name;
}

static bool read_names(struct fb_jfr_classes *c, struct fb_wire_in *in)
{
    uint64_t n;

    (void)fb_jfr_varint(in); /* start, duration, metadata id */
    (void)fb_jfr_varint(in);
    (void)fb_jfr_varint(in);
    n = fb_jfr_varint(in);
    if (n > fb_wire_left(in))
        return false;
    c->names = fb_alloc_array((size_t)n, sizeof *c->names);
    for (; c->names_count < n && !in->bad; c->names_count++) {
        struct fb_jfr_text text = fb_jfr_text_read(in);

        c->names[c->names_count] = copy_name(c, &text);
    }
    return !in->bad;
}

static struct element read_attributes(struct fb_jfr_classes *c, struct fb_wire_in *in)
{
    struct element e = {.name = "", .type = "", .id = ""};
    uint64_t n = fb_jfr_varint(in);

    for (uint64_t i = 0; i < n && !in->bad; i++) {
        const char *key = name_at(c, fb_jfr_varint(in)), *value = name_at(c, fb_jfr_varint(in));

        if (strcmp(key, "name") == 0)
            e.name = value;
        else if (strcmp(key, "class") == 0)
            e.type = value;
        else if (strcmp(key, "id") == 0)
            e.id = value;
        else if (strcmp(key, "constantPool") == 0)
            e.is_pooled = strcmp(value, "true") == 0;
        else if (strcmp(key, "dimension") == 0)
            e.is_list = strcmp(value, "0") != 0;
    }
    return e;
}

static void add_field(struct fb_jfr_classes *c, const struct element *e)
{
    fb_vec_reserve(&c->fields, &c->fields_room, c->fields_count + 1, sizeof *c->fields);
    c->fields[c->fields_count++] = (struct fb_jfr_field){.name = e->name,
                                                         .type = strtoull(e->type, NULL, 10),
                                                         .is_pooled = e->is_pooled,
                                                         .is_list = e->is_list};
}

static void add_class(struct fb_jfr_classes *c, const struct element *e)
{
    uint64_t id = strtoull(e->id, NULL, 10);

    fb_vec_reserve(&c->items, &c->room, c->count + 1, sizeof *c->items);
    fb_index_add(&c->index, fb_hash_mix(id), (uint32_t)c->count);
    c->items[c->count++] =
        (struct fb_jfr_class){.id = id, .name = e->name, .first = (uint32_t)c->fields_count};
}

/* Fields stand below their class, so a class's are the ones between it and the next. */
static void read_element(struct fb_jfr_classes *c, struct fb_wire_in *in, unsigned depth)
{
    const char *kind = name_at(c, fb_jfr_varint(in));
    struct element e = read_attributes(c, in);
    uint64_t children = fb_jfr_varint(in);

    if (depth > DEPTH_MOST)
        in->bad = true;
    if (in->bad)
        return;
    if (strcmp(kind, "class") == 0)
        add_class(c, &e);
    else if (strcmp(kind, "field") == 0 && c->count > 0)
        add_field(c, &e);
    for (uint64_t i = 0; i < children && !in->bad; i++)
        read_element(c, in, depth + 1);
    if (strcmp(kind, "class") == 0)
        c->items[c->count - 1].count = (uint32_t)c->fields_count - c->items[c->count - 1].first;
}

enum fb_status fb_jfr_classes_read(struct fb_jfr_classes *c, struct fb_wire_in in,
                                   struct fb_err *err)
{
    *c = (struct fb_jfr_classes){0};
    fb_vec_reserve(&c->programs, &c->programs_room, 1, sizeof *c->programs);
    c->programs[c->programs_count++] = (struct fb_jfr_program){0};
    if (read_names(c, &in))
        read_element(c, &in, 0);
    if (!in.bad && c->count > 0)
        return FB_OK;
    return fb_fail(err, FB_EFORMAT,
                   "its metadata are damaged: descriptions of classes were expected");
}

void fb_jfr_classes_done(struct fb_jfr_classes *c)
{
    free(c->names);
    fb_arena_done(&c->arena);
    free(c->fields);
    free(c->items);
    fb_index_done(&c->index);
    free(c->steps);
    free(c->programs);
    *c = (struct fb_jfr_classes){0};
}

struct fb_jfr_class *fb_jfr_class_find(struct fb_jfr_classes *c, uint64_t id)
{
    struct fb_index_cursor at = fb_index_seek(&c->index, fb_hash_mix(id));
    uint32_t i;

    while (fb_index_step(&c->index, &at, &i)) {
        if (c->items[i].id == id)
            return &c->items[i];
    }
    return NULL;
}

struct fb_jfr_class *fb_jfr_class_named(struct fb_jfr_classes *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->items[i].name, name) == 0)
            return &c->items[i];
    }
    return NULL;
}

bool fb_jfr_class_has(const struct fb_jfr_classes *c, const struct fb_jfr_class *class,
                      const char *field)
{
    for (uint32_t i = class->first; i < class->first + class->count; i++) {
        if (strcmp(c->fields[i].name, field) == 0)
            return true;
    }
    return false;
}

/* ---- programs ---- */

static bool primitive(const char *name, enum step_kind *ret)
{
    static const struct {
        const char *name;
        enum step_kind kind;
    } rows[] = {
        {"int", STEP_VARINT},  {"long", STEP_VARINT},   {"short", STEP_VARINT},
        {"char", STEP_VARINT}, {"byte", STEP_BYTE},     {"boolean", STEP_BYTE},
        {"float", STEP_FLOAT}, {"double", STEP_DOUBLE}, {"java.lang.String", STEP_STRING},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *ret = rows[i].kind;
            return true;
        }
    }
    return false;
}

struct compiler {
    struct fb_jfr_step *steps; /* of the program under construction */
    size_t count, room;
    const char *const *names; /* wanted, on the first level */
    size_t names_count;
    unsigned lists;
    size_t fields; /* seen; those of no size make no step */
    bool failed;
};

static uint32_t compile_element(struct fb_jfr_classes *c, struct fb_jfr_class *class,
                                unsigned lists);

static void add_step(struct compiler *k, struct fb_jfr_step step)
{
    if (k->count >= STEPS_MOST) {
        k->failed = true;
        return;
    }
    fb_vec_reserve(&k->steps, &k->room, k->count + 1, sizeof *k->steps);
    k->steps[k->count++] = step;
}

static void compile_class(struct fb_jfr_classes *c, struct compiler *k,
                          const struct fb_jfr_class *class, unsigned depth);

static void compile_field(struct fb_jfr_classes *c, struct compiler *k, uint32_t field,
                          unsigned depth)
{
    struct fb_jfr_field f = c->fields[field];
    struct fb_jfr_class *type = fb_jfr_class_find(c, f.type);
    struct fb_jfr_step step = {.kind = STEP_VARINT, .slot = NO_SLOT, .is_list = f.is_list};
    enum step_kind kind;

    for (size_t i = 0; depth == 0 && i < k->names_count; i++) {
        if (strcmp(k->names[i], f.name) == 0)
            step.slot = (uint8_t)i;
    }
    if (!type || ++k->fields > STEPS_MOST) {
        k->failed = true;
    } else if (f.is_pooled) {
        add_step(k, step);
    } else if (primitive(type->name, &kind)) {
        step.kind = (uint8_t)kind;
        add_step(k, step);
    } else if (f.is_list) {
        step.kind = STEP_STRUCT;
        step.program = compile_element(c, type, k->lists + 1);
        k->failed = k->failed || step.program == 0;
        add_step(k, step);
    } else {
        compile_class(c, k, type, depth + 1);
    }
}

static void compile_class(struct fb_jfr_classes *c, struct compiler *k,
                          const struct fb_jfr_class *class, unsigned depth)
{
    uint32_t first = class->first, count = class->count;

    if (depth > DEPTH_MOST)
        k->failed = true;
    for (uint32_t i = first; i < first + count && !k->failed; i++)
        compile_field(c, k, i, depth);
}

static uint32_t compile(struct fb_jfr_classes *c, const struct fb_jfr_class *class,
                        const char *const *names, size_t n, unsigned lists)
{
    struct compiler k = {.names = names, .names_count = n, .lists = lists};
    enum step_kind kind;
    uint32_t program = 0;

    if (lists > LISTS_MOST)
        return 0;
    if (primitive(class->name, &kind))
        add_step(&k, (struct fb_jfr_step){.kind = (uint8_t)kind, .slot = n > 0 ? 0 : NO_SLOT});
    else
        compile_class(c, &k, class, 0);
    if (!k.failed) {
        fb_vec_reserve(&c->steps, &c->steps_room, c->steps_count + k.count, sizeof *c->steps);
        if (k.count > 0)
            memcpy(c->steps + c->steps_count, k.steps, k.count * sizeof *k.steps);
        fb_vec_reserve(&c->programs, &c->programs_room, c->programs_count + 1, sizeof *c->programs);
        program = (uint32_t)c->programs_count++;
        c->programs[program] = (struct fb_jfr_program){(uint32_t)c->steps_count, (uint32_t)k.count};
        c->steps_count += k.count;
    }
    free(k.steps);
    return program;
}

/* Once for each class, so that lists of lists cost no more than there are classes; one that is
 * under construction holds a list of itself, which no file needs. */
static uint32_t compile_element(struct fb_jfr_classes *c, struct fb_jfr_class *class,
                                unsigned lists)
{
    if (class->is_compiling)
        return 0;
    if (class->skip_program == 0) {
        class->is_compiling = true;
        class->skip_program = compile(c, class, NULL, 0, lists);
        class->is_compiling = false;
    }
    return class->skip_program;
}

uint32_t fb_jfr_program(struct fb_jfr_classes *c, const struct fb_jfr_class *class,
                        const char *const *names, size_t n)
{
    return compile(c, class, names, n, 0);
}

uint32_t fb_jfr_skip_program(struct fb_jfr_classes *c, struct fb_jfr_class *class)
{
    return compile_element(c, class, 0);
}

uint32_t fb_jfr_element_program(struct fb_jfr_classes *c, const struct fb_jfr_class *class,
                                const char *list, const char *const *names, size_t n)
{
    for (uint32_t i = class->first; i < class->first + class->count; i++) {
        const struct fb_jfr_field *f = &c->fields[i];
        const struct fb_jfr_class *type;

        if (strcmp(f->name, list) != 0 || !f->is_list)
            continue;
        type = fb_jfr_class_find(c, f->type);
        return type ? compile(c, type, names, n, 1) : 0;
    }
    return 0;
}

/* ---- values ---- */

static void read_one(const struct fb_jfr_classes *c, const struct fb_jfr_step *step,
                     struct fb_wire_in *in, struct fb_jfr_value *value)
{
    struct fb_jfr_value ignored;

    value = value ? value : &ignored;
    switch ((enum step_kind)step->kind) {
    case STEP_VARINT:
        value->number = fb_jfr_varint(in);
        break;
    case STEP_BYTE:
        value->number = fb_wire_get_u8(in);
        break;
    case STEP_FLOAT:
        (void)fb_wire_get_bytes(in, 4);
        break;
    case STEP_DOUBLE:
        (void)fb_wire_get_bytes(in, 8);
        break;
    case STEP_STRING:
        value->text = fb_jfr_text_read(in);
        break;
    case STEP_STRUCT:
        (void)fb_jfr_value_read(c, step->program, in, NULL);
        break;
    }
}

static void read_list(const struct fb_jfr_classes *c, const struct fb_jfr_step *step,
                      struct fb_wire_in *in, struct fb_jfr_value *value)
{
    uint64_t n = fb_jfr_varint(in);

    if (n > fb_wire_left(in) ||
        (step->kind == STEP_STRUCT && n > 0 && c->programs[step->program].count == 0)) {
        in->bad = true;
        return;
    }
    if (value) {
        value->number = n;
        value->list = *in;
    }
    for (uint64_t i = 0; i < n && !in->bad; i++)
        read_one(c, step, in, NULL);
}

bool fb_jfr_value_read(const struct fb_jfr_classes *c, uint32_t program, struct fb_wire_in *in,
                       struct fb_jfr_value *values)
{
    const struct fb_jfr_step *step, *end;

    if (c->programs[program].count == 0)
        return !in->bad;
    step = c->steps + c->programs[program].first;
    end = step + c->programs[program].count;
    for (; step < end && !in->bad; step++) {
        struct fb_jfr_value *value = values && step->slot != NO_SLOT ? &values[step->slot] : NULL;

        if (step->is_list)
            read_list(c, step, in, value);
        else if (step->kind == STEP_VARINT && !value)
            (void)fb_jfr_varint(in);
        else
            read_one(c, step, in, value);
    }
    return !in->bad;
}

bool fb_jfr_numbers_read(const struct fb_jfr_classes *c, uint32_t program, struct fb_wire_in *in,
                         uint64_t *numbers)
{
    const struct fb_jfr_step *step, *end;

    if (c->programs[program].count == 0)
        return !in->bad;
    step = c->steps + c->programs[program].first;
    end = step + c->programs[program].count;
    for (; step < end && !in->bad; step++) {
        struct fb_jfr_value value;

        if (step->is_list) {
            read_list(c, step, in, NULL);
        } else if (step->kind == STEP_VARINT) {
            uint64_t number = fb_jfr_varint(in);

            if (step->slot != NO_SLOT)
                numbers[step->slot] = number;
        } else {
            value.number = 0;
            read_one(c, step, in, &value);
            if (step->slot != NO_SLOT)
                numbers[step->slot] = value.number;
        }
    }
    return !in->bad;
}
