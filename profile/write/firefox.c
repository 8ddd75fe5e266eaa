#include "profile/write/firefox.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/vec.h"
#include "profile/write/out_tree.h"

/* Things of the whole profile that a thread uses some of, numbered in the order of their first use
 * in it. */
struct numbers {
    uint32_t *number; /* 1 + the number, 0 not used; by id */
    uint32_t *used;   /* ids by number */
    size_t count, room;
};

/* A row of a frame table: a frame in a layer. */
struct entry {
    uint32_t frame, category;
};

struct function {
    uint32_t function, file, module;
};

struct writer {
    const struct fb_profile *p;
    const struct fb_write_layers *layers;
    struct fb_buf *out;
    struct fb_out_tree t;
    struct fb_strings strings; /* of the file */
    struct entry *entries;
    size_t entries_count, entries_room;
    uint32_t *entry_of; /* by node */
    struct function *functions;
    size_t functions_count, functions_room;
    uint32_t *function_of; /* by frame */
    struct fb_index entry_index, function_index;
    struct numbers nodes, rows, funcs, modules;
    uint32_t subcategory[FB_FRAME_KIND_COUNT][FB_TIER_C2 + 1]; /* 0: no frame is of it */
    uint64_t start_ms;
    bool in_ms; /* weights are milliseconds, of nanoseconds */
};

static uint32_t number_of(struct numbers *n, uint32_t id)
{
    if (n->number[id] == 0) {
        fb_vec_reserve(&n->used, &n->room, n->count + 1, sizeof *n->used);
        n->used[n->count++] = id;
        n->number[id] = (uint32_t)n->count;
    }
    return n->number[id] - 1;
}

static void numbers_clear(struct numbers *n)
{
    while (n->count > 0)
        n->number[n->used[--n->count]] = 0;
}

static void numbers_init(struct numbers *n, size_t ids)
{
    n->number = fb_alloc_array(ids, sizeof *n->number);
}

static void numbers_done(struct numbers *n)
{
    free(n->number);
    free(n->used);
}

/* ---- entries and functions ---- */

static uint32_t entry_put(struct writer *w, struct entry entry)
{
    uint64_t hash = fb_hash_pair(entry.frame, entry.category);
    struct fb_index_cursor at = fb_index_seek(&w->entry_index, hash);
    uint32_t id;

    while (fb_index_step(&w->entry_index, &at, &id)) {
        if (w->entries[id].frame == entry.frame && w->entries[id].category == entry.category)
            return id;
    }
    fb_vec_reserve(&w->entries, &w->entries_room, w->entries_count + 1, sizeof *w->entries);
    id = (uint32_t)w->entries_count;
    w->entries[w->entries_count++] = entry;
    fb_index_add(&w->entry_index, hash, id);
    return id;
}

static uint32_t function_put(struct writer *w, const struct fb_out_frame *f)
{
    uint64_t hash = fb_hash_pair(f->function, f->file);
    struct fb_index_cursor at = fb_index_seek(&w->function_index, hash);
    uint32_t id;

    while (fb_index_step(&w->function_index, &at, &id)) {
        if (w->functions[id].function == f->function && w->functions[id].file == f->file)
            return id;
    }
    fb_vec_reserve(&w->functions, &w->functions_room, w->functions_count + 1, sizeof *w->functions);
    id = (uint32_t)w->functions_count;
    w->functions[w->functions_count++] = (struct function){f->function, f->file, f->module};
    fb_index_add(&w->function_index, hash, id);
    return id;
}

/* Category 0 is "Other", as it is in a profile without any. */
static void put_entries(struct writer *w)
{
    uint16_t *layer = fb_alloc_array(w->t.stacks.count, sizeof *layer);

    for (size_t s = 1; s < w->p->stacks_count && w->layers; s++)
        layer[w->t.stack_of[s]] = (uint16_t)(w->layers->of_stack[s] + 1);
    for (uint32_t f = 1; f < w->t.frames_count; f++)
        w->function_of[f] = function_put(w, &w->t.frames[f]);
    for (uint32_t n = 1; n < w->t.stacks.count; n++) {
        uint32_t frame = w->t.stacks.nodes[n].function;

        w->entry_of[n] = entry_put(
            w,
            (struct entry){frame, w->layers ? layer[n]
                                            : (uint32_t)fb_out_function(&w->t, frame)->kind + 1});
    }
    free(layer);
}

/* ---- columns ---- */

static void put_column(struct writer *w, const char *name)
{
    fb_buf_printf(w->out, ",\"%s\":[", name);
}

/* "a" or "null". */
static void put_number(struct fb_buf *out, bool is_first, bool is_null, uint64_t v)
{
    if (!is_first)
        fb_buf_putc(out, ',');
    if (is_null)
        fb_buf_puts(out, "null");
    else
        fb_buf_add_u64(out, v);
}

static void put_same(struct writer *w, const char *name, size_t n, const char *value)
{
    put_column(w, name);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            fb_buf_putc(w->out, ',');
        fb_buf_puts(w->out, value);
    }
    fb_buf_putc(w->out, ']');
}

static uint32_t string_of(struct writer *w, const struct fb_string *s)
{
    return fb_strings_put(&w->strings, s->text, s->len);
}

static uint32_t profile_string(struct writer *w, uint32_t id)
{
    return string_of(w, &w->p->strings.items[id]);
}

/* Parents come before their children, since ids do and all ancestors are used. */
static int by_id(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

    return i < k ? -1 : i > k;
}

static void number_nodes(struct writer *w, const uint32_t *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t node = w->t.stack_of[w->p->samples.stack[rows[i]]];

        for (; node != 0 && w->nodes.number[node] == 0; node = w->t.stacks.nodes[node].parent)
            (void)number_of(&w->nodes, node);
    }
    if (w->nodes.count > 0)
        qsort(w->nodes.used, w->nodes.count, sizeof *w->nodes.used, by_id);
    for (size_t i = 0; i < w->nodes.count; i++)
        w->nodes.number[w->nodes.used[i]] = (uint32_t)i + 1;
}

static void put_stack_table(struct writer *w)
{
    fb_buf_printf(w->out, ",\"stackTable\":{\"length\":%zu", w->nodes.count);
    put_column(w, "frame");
    for (size_t i = 0; i < w->nodes.count; i++)
        put_number(w->out, i == 0, false, number_of(&w->rows, w->entry_of[w->nodes.used[i]]));
    fb_buf_putc(w->out, ']');
    put_column(w, "prefix");
    for (size_t i = 0; i < w->nodes.count; i++) {
        uint32_t parent = w->t.stacks.nodes[w->nodes.used[i]].parent;

        put_number(w->out, i == 0, parent == 0, parent ? w->nodes.number[parent] - 1 : 0);
    }
    fb_buf_puts(w->out, "]}");
}

static const struct fb_out_frame *row_frame(const struct writer *w, size_t i)
{
    return &w->t.frames[w->entries[w->rows.used[i]].frame];
}

static uint32_t subcategory_of(const struct writer *w, const struct fb_function *f)
{
    return w->subcategory[f->kind][f->tier];
}

static void put_frame_table(struct writer *w)
{
    size_t n = w->rows.count;

    fb_buf_printf(w->out, ",\"frameTable\":{\"length\":%zu", n);
    put_column(w, "func");
    for (size_t i = 0; i < n; i++)
        put_number(w->out, i == 0, false,
                   number_of(&w->funcs, w->function_of[w->entries[w->rows.used[i]].frame]));
    fb_buf_putc(w->out, ']');
    put_column(w, "line");
    for (size_t i = 0; i < n; i++)
        put_number(w->out, i == 0, row_frame(w, i)->line == 0, row_frame(w, i)->line);
    fb_buf_putc(w->out, ']');
    put_column(w, "category");
    for (size_t i = 0; i < n; i++)
        put_number(w->out, i == 0, false, w->entries[w->rows.used[i]].category);
    fb_buf_putc(w->out, ']');
    put_column(w, "subcategory");
    for (size_t i = 0; i < n; i++)
        put_number(w->out, i == 0, false,
                   subcategory_of(w, fb_out_function(&w->t, w->entries[w->rows.used[i]].frame)));
    fb_buf_putc(w->out, ']');
    put_same(w, "address", n, "-1");
    put_same(w, "inlineDepth", n, "0");
    put_same(w, "nativeSymbol", n, "null");
    put_same(w, "innerWindowID", n, "0");
    put_same(w, "column", n, "null");
    fb_buf_putc(w->out, '}');
}

static void put_func_table(struct writer *w)
{
    size_t n = w->funcs.count;
    struct fb_buf *out = w->out;

    fb_buf_printf(out, ",\"funcTable\":{\"length\":%zu", n);
    put_column(w, "name");
    for (size_t i = 0; i < n; i++) {
        const struct fb_function *f = &w->t.fns.items[w->functions[w->funcs.used[i]].function];

        put_number(out, i == 0, false, string_of(w, &w->t.fns.strings.items[f->name]));
    }
    fb_buf_putc(out, ']');
    put_column(w, "isJS");
    for (size_t i = 0; i < n; i++) {
        const struct fb_function *f = &w->t.fns.items[w->functions[w->funcs.used[i]].function];

        fb_buf_puts(out, i == 0 ? "" : ",");
        fb_buf_puts(out, f->kind == FB_FRAME_JS ? "true" : "false");
    }
    fb_buf_putc(out, ']');
    put_column(w, "resource");
    for (size_t i = 0; i < n; i++) {
        uint32_t module = w->functions[w->funcs.used[i]].module;

        if (module == FB_NO_MODULE)
            fb_buf_puts(out, i == 0 ? "-1" : ",-1");
        else
            put_number(out, i == 0, false, number_of(&w->modules, module));
    }
    fb_buf_putc(out, ']');
    put_column(w, "fileName");
    for (size_t i = 0; i < n; i++) {
        uint32_t file = w->functions[w->funcs.used[i]].file;

        put_number(out, i == 0, file == 0, file ? profile_string(w, file) : 0);
    }
    fb_buf_putc(out, ']');
    put_same(w, "relevantForJS", n, "false");
    put_same(w, "lineNumber", n, "null");
    put_same(w, "columnNumber", n, "null");
    fb_buf_putc(out, '}');
}

static void put_resource_table(struct writer *w)
{
    size_t n = w->modules.count;

    fb_buf_printf(w->out, ",\"resourceTable\":{\"length\":%zu", n);
    put_column(w, "lib");
    for (size_t i = 0; i < n; i++)
        put_number(w->out, i == 0, false, w->modules.used[i] - 1);
    fb_buf_putc(w->out, ']');
    put_column(w, "name");
    for (size_t i = 0; i < n; i++)
        put_number(w->out, i == 0, false,
                   profile_string(w, w->p->modules[w->modules.used[i]].path));
    fb_buf_putc(w->out, ']');
    put_same(w, "host", n, "null");
    put_same(w, "type", n, "1");
    fb_buf_puts(w->out, "},\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],"
                        "\"name\":[],\"functionSize\":[]}");
}

/* ---- samples ---- */

/* Milliseconds with all nanoseconds. */
static void put_ms(struct fb_buf *out, uint64_t ns)
{
    fb_buf_add_u64(out, ns / 1000000);
    if (ns % 1000000 != 0)
        fb_buf_printf(out, ".%06llu", (unsigned long long)(ns % 1000000));
}

static void put_samples(struct writer *w, const uint32_t *rows, size_t n)
{
    const struct fb_samples *s = &w->p->samples;
    const char *unit = fb_profile_text(w->p, w->p->unit);
    bool is_bytes = strcmp(unit, "bytes") == 0;

    fb_buf_printf(w->out, ",\"samples\":{\"length\":%zu,\"weightType\":\"%s\"", n,
                  w->in_ms   ? "tracing-ms"
                  : is_bytes ? "bytes"
                             : "samples");
    put_column(w, "stack");
    for (size_t i = 0; i < n; i++) {
        uint32_t node = w->t.stack_of[s->stack[rows[i]]];

        put_number(w->out, i == 0, node == 0, node ? w->nodes.number[node] - 1 : 0);
    }
    fb_buf_putc(w->out, ']');
    put_column(w, "time");
    for (size_t i = 0; i < n; i++) {
        int64_t ns = w->p->has_times ? s->time_ns[rows[i]] - (int64_t)w->start_ms * 1000000 : 0;

        fb_buf_puts(w->out, i == 0 ? "" : ",");
        put_ms(w->out, ns > 0 ? (uint64_t)ns : 0);
    }
    fb_buf_putc(w->out, ']');
    put_column(w, "weight");
    for (size_t i = 0; i < n; i++) {
        fb_buf_puts(w->out, i == 0 ? "" : ",");
        if (w->in_ms)
            put_ms(w->out, s->weight[rows[i]]);
        else
            fb_buf_add_u64(w->out, s->weight[rows[i]]);
    }
    fb_buf_puts(w->out, "]}");
}

static void put_thread(struct writer *w, const uint32_t *rows, size_t n, bool is_first)
{
    const struct fb_thread *t = &w->p->threads[w->p->samples.thread[rows[0]]];
    const char *pid = fb_profile_manifest_get(w->p, "pid");
    struct fb_buf *out = w->out;

    fb_buf_puts(out, is_first ? "{\"name\":" : ",{\"name\":");
    if (t->name == 0 && t->tid == 0)
        fb_buf_puts(out, "\"all threads\"");
    else
        fb_out_put_text(w->p, t->name, out);
    fb_buf_printf(out,
                  ",\"isMainThread\":%s,\"processType\":\"default\",\"processStartupTime\":0,"
                  "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
                  "\"pausedRanges\":[],\"tid\":%u,\"pid\":",
                  is_first ? "true" : "false", t->tid);
    if (t->pid != 0)
        fb_buf_printf(out, "\"%u\"", t->pid);
    else
        fb_json_put_string(out, pid ? pid : "0", strlen(pid ? pid : "0"));
    number_nodes(w, rows, n);
    put_samples(w, rows, n);
    put_stack_table(w);
    put_frame_table(w);
    put_func_table(w);
    put_resource_table(w);
    fb_buf_puts(out, ",\"markers\":{\"length\":0,\"data\":[],\"name\":[],\"startTime\":[],"
                     "\"endTime\":[],\"phase\":[],\"category\":[]}}");
    numbers_clear(&w->nodes);
    numbers_clear(&w->rows);
    numbers_clear(&w->funcs);
    numbers_clear(&w->modules);
}

/* ---- the file ---- */

/* Of the colours that the page knows, the nearest in meaning or in turn. */
static const char *const colors[] = {"blue",   "orange",   "green",     "purple",
                                     "yellow", "magenta",  "lightblue", "brown",
                                     "red",    "lightred", "darkgrey"};

/* Subcategories: "Other", then the kinds that frames are of, with their tiers. */
static void put_category(const struct writer *w, const char *name, const char *color)
{
    struct fb_buf *out = w->out;

    fb_buf_puts(out, "{\"name\":");
    fb_json_put_string(out, name, strlen(name));
    fb_buf_printf(out, ",\"color\":\"%s\",\"subcategories\":[\"Other\"", color);
    for (int kind = 0; kind < FB_FRAME_KIND_COUNT; kind++) {
        for (int tier = 0; tier <= FB_TIER_C2; tier++) {
            if (w->subcategory[kind][tier] != 0)
                fb_buf_printf(out, ",\"%s%s%s\"", fb_frame_kind_text((enum fb_frame_kind)kind),
                              tier ? " " : "", tier ? fb_tier_text((enum fb_tier)tier) : "");
        }
    }
    fb_buf_puts(out, "]}");
}

static void number_subcategories(struct writer *w)
{
    uint32_t n = 0;

    for (uint32_t i = 1; i < w->t.frames_count; i++) {
        const struct fb_function *f = fb_out_function(&w->t, i);

        w->subcategory[f->kind][f->tier] = 1;
    }
    for (int kind = 0; kind < FB_FRAME_KIND_COUNT; kind++) {
        for (int tier = 0; tier <= FB_TIER_C2; tier++) {
            if (w->subcategory[kind][tier] != 0)
                w->subcategory[kind][tier] = ++n;
        }
    }
}

static void put_categories(const struct writer *w)
{
    size_t n = w->layers ? w->layers->count : FB_FRAME_KIND_COUNT;

    fb_buf_puts(w->out, ",\"categories\":[");
    put_category(w, "Other", "grey");
    for (size_t i = 0; i < n; i++) {
        fb_buf_putc(w->out, ',');
        put_category(w, w->layers ? w->layers->names[i] : fb_frame_kind_text((enum fb_frame_kind)i),
                     colors[i % (sizeof colors / sizeof *colors)]);
    }
    fb_buf_putc(w->out, ']');
}

static void put_meta(const struct writer *w)
{
    const char *command = fb_profile_manifest_get(w->p, "command");
    const char *name = fb_profile_manifest_get(w->p, "product");
    double ms = w->p->interval_ns > 0 ? (double)w->p->interval_ns / 1e6 : 1;

    name = name ? name : command ? command : "flamebank";
    fb_buf_printf(w->out,
                  "{\"meta\":{\"version\":31,\"preprocessedProfileVersion\":56,\"interval\":%.6f,"
                  "\"startTime\":%llu,\"processType\":0,\"stackwalk\":1,\"debug\":false,"
                  "\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
                  "\"sourceCodeIsNotOnSearchfox\":true,\"importedFrom\":\"flamebank\","
                  "\"markerSchema\":[],\"product\":",
                  ms, (unsigned long long)w->start_ms);
    fb_json_put_string(w->out, name, strlen(name));
    if (w->p->interval_ns == 0) /* the page wants one; our reader does not believe it then */
        fb_buf_puts(w->out, ",\"intervalIsUnknown\":true");
    put_categories(w);
    fb_buf_putc(w->out, '}');
}

static void put_libs(const struct writer *w)
{
    fb_buf_puts(w->out, ",\"libs\":[");
    for (size_t i = 1; i < w->p->modules_count; i++) {
        const struct fb_module *m = &w->p->modules[i];
        const char *path = fb_profile_text(w->p, m->path), *slash = strrchr(path, '/');
        const char *base = slash ? slash + 1 : path;

        fb_buf_puts(w->out, i > 1 ? ",{\"arch\":\"\",\"name\":" : "{\"arch\":\"\",\"name\":");
        fb_json_put_string(w->out, base, strlen(base));
        fb_buf_puts(w->out, ",\"path\":");
        fb_out_put_text(w->p, m->path, w->out);
        fb_buf_puts(w->out, ",\"debugName\":");
        fb_json_put_string(w->out, base, strlen(base));
        fb_buf_puts(w->out, ",\"debugPath\":");
        fb_out_put_text(w->p, m->path, w->out);
        fb_buf_puts(w->out, ",\"breakpadId\":\"\",\"codeId\":");
        if (m->build_id != 0)
            fb_out_put_text(w->p, m->build_id, w->out);
        else
            fb_buf_puts(w->out, "null");
        fb_buf_putc(w->out, '}');
    }
    fb_buf_putc(w->out, ']');
}

static void put_threads(struct writer *w)
{
    uint32_t *rows = fb_out_rows_by_thread(w->p);
    const uint32_t *thread = w->p->samples.thread;

    fb_buf_puts(w->out, ",\"threads\":[");
    for (size_t from = 0, to; from < w->p->samples.count; from = to) {
        for (to = from + 1; to < w->p->samples.count && thread[rows[to]] == thread[rows[from]];)
            to++;
        put_thread(w, rows + from, to - from, from == 0);
    }
    fb_buf_puts(w->out, "],\"shared\":{\"stringArray\":[");
    for (size_t i = 0; i < w->strings.count; i++) {
        if (i > 0)
            fb_buf_putc(w->out, ',');
        fb_json_put_string(w->out, w->strings.items[i].text, w->strings.items[i].len);
    }
    fb_buf_puts(w->out, "]}}\n");
    free(rows);
}

void fb_firefox_write_layers(const struct fb_profile *p, fb_canonical_fn canonical,
                             const struct fb_write_layers *layers, struct fb_buf *out)
{
    struct writer w = {.p = p, .layers = layers, .out = out};

    fb_out_tree_init(&w.t, p, canonical);
    fb_strings_init(&w.strings);
    w.in_ms = strcmp(fb_profile_text(p, p->unit), "nanoseconds") == 0;
    w.start_ms = p->has_times && p->first_ns > 0 ? (uint64_t)p->first_ns / 1000000 : 0;
    w.entry_of = fb_alloc_array(w.t.stacks.count, sizeof *w.entry_of);
    w.function_of = fb_alloc_array(w.t.frames_count, sizeof *w.function_of);
    put_entries(&w);
    number_subcategories(&w);
    numbers_init(&w.nodes, w.t.stacks.count);
    numbers_init(&w.rows, w.entries_count);
    numbers_init(&w.funcs, w.functions_count);
    numbers_init(&w.modules, p->modules_count);
    put_meta(&w);
    put_libs(&w);
    put_threads(&w);
    numbers_done(&w.nodes);
    numbers_done(&w.rows);
    numbers_done(&w.funcs);
    numbers_done(&w.modules);
    fb_index_done(&w.entry_index);
    fb_index_done(&w.function_index);
    free(w.entries);
    free(w.functions);
    free(w.entry_of);
    free(w.function_of);
    fb_strings_done(&w.strings);
    fb_out_tree_done(&w.t);
}

void fb_firefox_write(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out)
{
    fb_firefox_write_layers(p, canonical, NULL, out);
}
