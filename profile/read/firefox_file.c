#include "profile/read/firefox_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "profile/read/tree_rows.h"

enum { NESTED_MOST = 4, PARTS_MOST = 4096 };

static const char *const stack_names[] = {"prefix", "frame", "prefixOffset", NULL};
static const char *const frame_names[] = {"func",         "location",    "line", "address",
                                          "nativeSymbol", "inlineDepth", "lib",  "category",
                                          "subcategory",  NULL};
static const char *const func_names[] = {"name",   "isJS",       "resource", "fileName",
                                         "source", "lineNumber", NULL};
static const char *const sample_names[] = {"stack", "time", "timeDeltas", "weight", NULL};
static const char *const resource_names[] = {"lib", NULL};
static const char *const symbol_names[] = {"libIndex", NULL};
static const char *const source_names[] = {"filename", NULL};

static void tables_init(struct fb_firefox_tables *t)
{
    *t = (struct fb_firefox_tables){0};
    fb_columns_init(&t->stacks, stack_names);
    fb_columns_init(&t->frames, frame_names);
    fb_columns_init(&t->funcs, func_names);
    fb_columns_init(&t->resources, resource_names);
    fb_columns_init(&t->symbols, symbol_names);
    fb_columns_init(&t->sources, source_names);
}

static void tables_done(struct fb_firefox_tables *t)
{
    fb_columns_done(&t->stacks);
    fb_columns_done(&t->frames);
    fb_columns_done(&t->funcs);
    fb_columns_done(&t->resources);
    fb_columns_done(&t->symbols);
    fb_columns_done(&t->sources);
    free(t->strings.items);
}

void fb_firefox_file_init(struct fb_firefox_file *f, struct fb_profile *p)
{
    *f = (struct fb_firefox_file){.p = p};
}

void fb_firefox_file_done(struct fb_firefox_file *f)
{
    for (size_t i = 0; i < f->parts_count; i++) {
        tables_done(&f->parts[i].shared);
        for (size_t k = 0; k < f->parts[i].categories_count; k++)
            free(f->parts[i].categories[k].subcategories.items);
        free(f->parts[i].categories);
        free(f->parts[i].libs.items);
    }
    for (size_t i = 0; i < f->threads_count; i++) {
        fb_columns_done(&f->threads[i].samples);
        tables_done(&f->threads[i].tables);
        free(f->threads[i].libs.items);
    }
    free(f->parts);
    free(f->threads);
    fb_index_done(&f->modules);
    *f = (struct fb_firefox_file){0};
}

/* ---- texts and numbers ---- */

static uint32_t take_text(struct fb_firefox_file *f, struct fb_json_in *in)
{
    struct fb_json_text text;

    fb_json_in_string_or(in, &text);
    return fb_strings_put(&f->p->strings, text.text, text.len);
}

/* A number, or one written as a string. */
static uint32_t take_id(struct fb_json_in *in)
{
    struct fb_json_text text;
    char digits[24] = "";
    double v;

    if (fb_json_in_peek(in) != FB_JSON_STRING) {
        v = fb_json_in_double_or(in, 0);
    } else {
        (void)fb_json_in_string(in, &text);
        memcpy(digits, text.text, text.len < sizeof digits ? text.len : 0);
        v = strtod(digits, NULL);
    }
    return v > 0 && v < UINT32_MAX ? (uint32_t)v : 0;
}

static void take_strings(struct fb_firefox_file *f, struct fb_firefox_strings *s,
                         struct fb_json_in *in)
{
    s->is_set = true;
    for (fb_json_in_array(in); fb_json_in_item(in);) {
        fb_vec_reserve(&s->items, &s->room, s->count + 1, sizeof *s->items);
        s->items[s->count++] = take_text(f, in);
    }
}

/* ---- libraries ---- */

static uint32_t lower_hex(struct fb_profile *p, uint32_t string)
{
    char *copy = fb_strdup(fb_profile_text(p, string));
    bool is_hex = strspn(copy, "0123456789abcdefABCDEF") == strlen(copy);
    uint32_t id = 0;

    for (char *c = copy; *c; c++)
        *c = *c >= 'A' && *c <= 'F' ? (char)(*c - 'A' + 'a') : *c;
    if (is_hex)
        id = fb_strings_put_z(&p->strings, copy);
    free(copy);
    return id;
}

static void take_lib(struct fb_firefox_file *f, struct fb_firefox_libs *libs, struct fb_json_in *in)
{
    struct fb_firefox_lib lib = {0};
    uint32_t name = 0;
    struct fb_json_text key;

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (fb_json_text_is(&key, "path"))
            lib.path = take_text(f, in);
        else if (fb_json_text_is(&key, "name"))
            name = take_text(f, in);
        else if (fb_json_text_is(&key, "codeId"))
            lib.build_id = lower_hex(f->p, take_text(f, in));
        else if (fb_json_text_is(&key, "start"))
            lib.start = (uint64_t)fmin(1.8e19, fmax(0, fb_json_in_double_or(in, 0)));
        else if (fb_json_text_is(&key, "end"))
            lib.end = (uint64_t)fmin(1.8e19, fmax(0, fb_json_in_double_or(in, 0)));
        else
            fb_json_in_skip(in);
    }
    if (lib.path == 0)
        lib.path = name;
    lib.module = fb_module_of_path(&f->modules, f->p, lib.path);
    if (lib.module != FB_NO_MODULE && f->p->modules[lib.module].build_id == 0) {
        struct fb_module *m = &f->p->modules[lib.module];

        m->build_id = lib.build_id;
        m->start = lib.start;
        m->end = lib.end;
        m->bias = lib.start;
    }
    fb_vec_reserve(&libs->items, &libs->room, libs->count + 1, sizeof *libs->items);
    libs->items[libs->count++] = lib;
}

/* An array, or (before 2017) an array in a string. */
static void take_libs(struct fb_firefox_file *f, struct fb_firefox_libs *libs,
                      struct fb_json_in *in)
{
    struct fb_json_text text;
    struct fb_json_in inner;
    char *copy;

    if (fb_json_in_peek(in) == FB_JSON_ARRAY) {
        for (fb_json_in_array(in); fb_json_in_item(in);)
            take_lib(f, libs, in);
        return;
    }
    fb_json_in_string_or(in, &text);
    if (text.len == 0)
        return;
    copy = fb_strndup(text.text, text.len);
    fb_json_in_start(&inner, copy, text.len);
    for (fb_json_in_array(&inner); fb_json_in_item(&inner);)
        take_lib(f, libs, &inner);
    if (fb_json_in_failed(&inner))
        fb_json_in_wrong(in, "in the text of 'libs', %s", inner.err.text);
    fb_json_in_done(&inner);
    free(copy);
}

/* ---- threads ---- */

static bool take_table(struct fb_firefox_file *f, struct fb_firefox_tables *t,
                       const struct fb_json_text *key, struct fb_json_in *in)
{
    if (fb_json_text_is(key, "stackTable"))
        fb_columns_take(&t->stacks, in);
    else if (fb_json_text_is(key, "frameTable"))
        fb_columns_take(&t->frames, in);
    else if (fb_json_text_is(key, "funcTable"))
        fb_columns_take(&t->funcs, in);
    else if (fb_json_text_is(key, "resourceTable"))
        fb_columns_take(&t->resources, in);
    else if (fb_json_text_is(key, "nativeSymbols"))
        fb_columns_take(&t->symbols, in);
    else if (fb_json_text_is(key, "sources"))
        fb_columns_take(&t->sources, in);
    else if (fb_json_text_is(key, "stringTable") || fb_json_text_is(key, "stringArray"))
        take_strings(f, &t->strings, in);
    else
        return false;
    return true;
}

/* samples: a table, and beside its columns the kind of its weights. */
static void take_samples(struct fb_firefox_thread *t, struct fb_json_in *in)
{
    struct fb_buf raw = {0};
    struct fb_json_in again;
    struct fb_json_text key, text;

    fb_json_in_raw(in, &raw);
    fb_json_in_start(&again, raw.data ? raw.data : "", raw.len);
    fb_columns_take(&t->samples, &again);
    if (fb_json_in_failed(&again) && raw.len > 0)
        fb_json_in_wrong(in, "in these samples, %s", again.err.text);
    fb_json_in_done(&again);
    if (!memmem(raw.data ? raw.data : "", raw.len, "\"weightType\"", 12)) {
        fb_buf_done(&raw);
        return;
    }
    fb_json_in_start(&again, raw.data, raw.len);
    for (fb_json_in_object(&again); fb_json_in_key(&again, &key);) {
        if (!fb_json_text_is(&key, "weightType")) {
            fb_json_in_skip(&again);
            continue;
        }
        fb_json_in_string_or(&again, &text);
        if (text.len < sizeof t->weight_type) {
            memcpy(t->weight_type, text.text, text.len);
            t->weight_type[text.len] = '\0';
        }
    }
    fb_json_in_done(&again);
    fb_buf_done(&raw);
}

static void take_thread(struct fb_firefox_file *f, uint32_t part, struct fb_json_in *in)
{
    struct fb_firefox_thread t = {.part = part};
    struct fb_json_text key;

    tables_init(&t.tables);
    fb_columns_init(&t.samples, sample_names);
    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (fb_json_text_is(&key, "name"))
            t.name = take_text(f, in);
        else if (fb_json_text_is(&key, "tid"))
            t.tid = take_id(in);
        else if (fb_json_text_is(&key, "pid"))
            t.pid = take_id(in);
        else if (fb_json_text_is(&key, "samples"))
            take_samples(&t, in);
        else if (fb_json_text_is(&key, "libs"))
            take_libs(f, &t.libs, in);
        else if (!take_table(f, &t.tables, &key, in))
            fb_json_in_skip(in);
    }
    fb_vec_reserve(&f->threads, &f->threads_room, f->threads_count + 1, sizeof *f->threads);
    f->threads[f->threads_count++] = t;
}

/* ---- processes ---- */

static void take_category(struct fb_firefox_file *f, uint32_t part, struct fb_json_in *in)
{
    struct fb_firefox_category c = {0};
    struct fb_firefox_part *pt = &f->parts[part];
    struct fb_json_text key;

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (fb_json_text_is(&key, "name"))
            c.name = take_text(f, in);
        else if (fb_json_text_is(&key, "subcategories") && !c.subcategories.is_set)
            take_strings(f, &c.subcategories, in);
        else
            fb_json_in_skip(in);
    }
    fb_vec_reserve(&pt->categories, &pt->categories_room, pt->categories_count + 1,
                   sizeof *pt->categories);
    pt->categories[pt->categories_count++] = c;
}

static void take_meta(struct fb_firefox_file *f, uint32_t part, struct fb_json_in *in)
{
    struct fb_json_text key;

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        struct fb_firefox_part *pt = &f->parts[part];

        if (fb_json_text_is(&key, "startTime"))
            pt->start_ms = fb_json_in_double_or(in, 0);
        else if (fb_json_text_is(&key, "interval"))
            pt->interval_ms = fb_json_in_double_or(in, 0);
        else if (fb_json_text_is(&key, "intervalIsUnknown"))
            pt->no_interval = fb_json_in_bool_or(in, false);
        else if (fb_json_text_is(&key, "product"))
            pt->product = take_text(f, in);
        else if (fb_json_text_is(&key, "categories") && fb_json_in_peek(in) == FB_JSON_ARRAY)
            for (fb_json_in_array(in); fb_json_in_item(in);)
                take_category(f, part, in);
        else
            fb_json_in_skip(in);
    }
}

static void take_part(struct fb_firefox_file *f, unsigned nested, struct fb_json_in *in);

/* A profile that is kept as a text in the list of threads (before 2018). */
static void take_nested_text(struct fb_firefox_file *f, unsigned nested, struct fb_json_in *in)
{
    struct fb_json_text text;
    struct fb_json_in inner;
    char *copy;

    (void)fb_json_in_string(in, &text);
    copy = fb_strndup(text.text, text.len);
    fb_json_in_start(&inner, copy, text.len);
    take_part(f, nested + 1, &inner);
    if (fb_json_in_failed(&inner))
        fb_json_in_wrong(in, "in the profile that this text is, %s", inner.err.text);
    fb_json_in_done(&inner);
    free(copy);
}

static void take_threads(struct fb_firefox_file *f, uint32_t part, unsigned nested,
                         struct fb_json_in *in)
{
    for (fb_json_in_array(in); fb_json_in_item(in);) {
        if (fb_json_in_peek(in) == FB_JSON_STRING)
            take_nested_text(f, nested, in);
        else
            take_thread(f, part, in);
    }
}

static void take_shared(struct fb_firefox_file *f, uint32_t part, struct fb_json_in *in)
{
    struct fb_json_text key;

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (!take_table(f, &f->parts[part].shared, &key, in))
            fb_json_in_skip(in);
    }
}

/* One process, with those nested in it. */
static void take_part(struct fb_firefox_file *f, unsigned nested, struct fb_json_in *in)
{
    uint32_t part = (uint32_t)f->parts_count;
    struct fb_json_text key;

    if (nested > NESTED_MOST || part >= PARTS_MOST) {
        fb_json_in_wrong(in, "at most %d processes, nested %d deep, were expected", PARTS_MOST,
                         NESTED_MOST);
        return;
    }
    fb_vec_reserve(&f->parts, &f->parts_room, f->parts_count + 1, sizeof *f->parts);
    f->parts[f->parts_count++] = (struct fb_firefox_part){0};
    tables_init(&f->parts[part].shared);
    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        enum fb_json_kind kind = fb_json_in_peek(in);

        if (fb_json_text_is(&key, "meta") && kind == FB_JSON_OBJECT)
            take_meta(f, part, in);
        else if (fb_json_text_is(&key, "libs"))
            take_libs(f, &f->parts[part].libs, in);
        else if (fb_json_text_is(&key, "threads") && kind == FB_JSON_ARRAY)
            take_threads(f, part, nested, in);
        else if (fb_json_text_is(&key, "shared") && kind == FB_JSON_OBJECT)
            take_shared(f, part, in);
        else if (fb_json_text_is(&key, "processes") && kind == FB_JSON_ARRAY)
            for (fb_json_in_array(in); fb_json_in_item(in);)
                take_part(f, nested + 1, in);
        else if (fb_json_text_is(&key, "profile") && kind == FB_JSON_OBJECT)
            take_part(f, nested + 1, in); /* as the developer tools save it */
        else
            fb_json_in_skip(in);
    }
}

void fb_firefox_file_take(struct fb_firefox_file *f, struct fb_json_in *in)
{
    take_part(f, 0, in);
    fb_json_in_end(in);
}
