#include "profile/functions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

void fb_functions_init(struct fb_functions *fns)
{
    *fns = (struct fb_functions){0};
    fb_strings_init(&fns->strings);
    fb_vec_reserve(&fns->items, &fns->room, 1, sizeof *fns->items);
    fns->items[fns->count++] = (struct fb_function){.kind = FB_FRAME_MARK};
}

void fb_functions_done(struct fb_functions *fns)
{
    fb_strings_done(&fns->strings);
    free(fns->items);
    free(fns->raw_pairs);
    fb_index_done(&fns->index);
    fb_index_done(&fns->raw_index);
    fb_index_done(&fns->same_index);
    *fns = (struct fb_functions){0};
}

/* 0: code that a compiler may make in several ways; else a sort of its own. */
static unsigned sort_of(enum fb_frame_kind kind)
{
    return kind == FB_FRAME_KERNEL || kind == FB_FRAME_STUB || kind == FB_FRAME_MARK
               ? 1 + (unsigned)kind
               : 0;
}

static uint32_t same_find(struct fb_functions *fns, uint32_t id)
{
    const struct fb_function *f = &fns->items[id];
    uint64_t hash = fb_hash_pair((uint64_t)sort_of(f->kind) << 32 | f->module, f->name);
    struct fb_index_cursor at = fb_index_seek(&fns->same_index, hash);
    uint32_t other;

    while (fb_index_step(&fns->same_index, &at, &other)) {
        const struct fb_function *g = &fns->items[other];

        if (g->name == f->name && g->module == f->module && sort_of(g->kind) == sort_of(f->kind))
            return other;
    }
    fb_index_add(&fns->same_index, hash, id);
    return id;
}

static uint32_t put(struct fb_functions *fns, enum fb_frame_kind kind, enum fb_tier tier,
                    uint32_t module, uint32_t name)
{
    uint64_t hash = fb_hash_pair((uint64_t)tier << 40 | (uint64_t)kind << 32 | module, name);
    struct fb_index_cursor at = fb_index_seek(&fns->index, hash);
    uint32_t id;

    while (fb_index_step(&fns->index, &at, &id)) {
        const struct fb_function *f = &fns->items[id];

        if (f->kind == kind && f->tier == tier && f->module == module && f->name == name)
            return id;
    }
    fb_vec_reserve(&fns->items, &fns->room, fns->count + 1, sizeof *fns->items);
    id = (uint32_t)fns->count;
    fns->items[fns->count++] = (struct fb_function){
        .name = name, .raw = name, .module = module, .kind = kind, .tier = tier};
    fb_index_add(&fns->index, hash, id);
    fns->items[id].same = same_find(fns, id);
    return id;
}

uint32_t fb_functions_put(struct fb_functions *fns, enum fb_frame_kind kind, const char *module,
                          const char *name)
{
    return fb_functions_put_tier(fns, kind, FB_TIER_UNKNOWN, module, name);
}

uint32_t fb_functions_put_tier(struct fb_functions *fns, enum fb_frame_kind kind, enum fb_tier tier,
                               const char *module, const char *name)
{
    return put(fns, kind, tier, fb_strings_put_z(&fns->strings, module),
               fb_strings_put_z(&fns->strings, name));
}

static uint64_t profile_bit(const struct fb_functions *fns)
{
    return UINT64_C(1) << (fns->profiles < 63 ? fns->profiles : 63);
}

/* Counts a raw name once for each function: the seen pairs are kept in order of appearance. */
static void note_raw(struct fb_functions *fns, uint32_t function, uint32_t raw,
                     enum fb_frame_kind kind)
{
    uint64_t hash = fb_hash_pair(function, raw);
    struct fb_index_cursor at = fb_index_seek(&fns->raw_index, hash);
    uint32_t i;

    while (fb_index_step(&fns->raw_index, &at, &i)) {
        if (fns->raw_pairs[i].function == function && fns->raw_pairs[i].raw == raw) {
            fns->raw_pairs[i].profiles |= profile_bit(fns);
            return;
        }
    }
    fb_vec_reserve(&fns->raw_pairs, &fns->raw_room, fns->raw_count + 1, sizeof *fns->raw_pairs);
    fb_index_add(&fns->raw_index, hash, (uint32_t)fns->raw_count);
    fns->raw_pairs[fns->raw_count++] = (struct fb_raw_name){function, raw, kind, profile_bit(fns)};
    if (fns->items[function].raw_names++ == 0)
        fns->items[function].raw = raw;
}

enum {
    TEMPORARY_DIGITS_MIN = 5, /* of a process or a clock, in a folder of temporary files */
    DIGITS_MIN = 15,          /* so many are of a clock anywhere */
    UUID_LENGTH = 36,
};

static bool is_temporary(const char *path)
{
    static const char *const folders[] = {"/tmp/", "/var/tmp/", "/dev/shm/", "/run/"};

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    return strstr(path, "/temp/") || strstr(path, "/tmp/");
}

/* The length of a UUID at p, or 0. */
static size_t uuid_length(const char *p, size_t len)
{
    if (len < UUID_LENGTH)
        return 0;
    for (size_t i = 0; i < UUID_LENGTH; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (is_dash ? p[i] != '-' : !isxdigit((unsigned char)p[i]))
            return 0;
    }
    return UUID_LENGTH;
}

/* A library that a program unpacks for itself has another name in each process:
 * liblz4-java-8712345678901234567.so, snappy-1.1.8-<UUID>-libsnappyjava.so, perf-4711.map. */
static void put_without_numbers(const char *base, size_t len, size_t digits_min, struct fb_buf *out)
{
    static const char map[] = "perf-";

    for (size_t i = 0, n; i < len; i += n) {
        size_t digits = 0, least = digits_min;

        n = uuid_length(base + i, len - i);
        if (n > 0)
            continue;
        while (i + digits < len && base[i + digits] >= '0' && base[i + digits] <= '9')
            digits++;
        if (i == sizeof map - 1 && strncmp(base, map, i) == 0 && base[i + digits] == '.')
            least = 1;
        n = digits > 0 ? digits : 1;
        if (digits < least)
            fb_buf_add(out, base + i, n);
    }
}

void fb_module_short_name(const char *path, struct fb_buf *out)
{
    const char *base = strrchr(path, '/'), *cut;
    size_t len;

    base = base && path[0] != '[' ? base + 1 : path;
    len = strcspn(base, " "); /* " (deleted)" */
    if (base[0] == '[')
        len = strlen(base);
    cut = memmem(base, len, ".so.", 4);
    if (cut)
        len = (size_t)(cut - base) + 3;
    put_without_numbers(base, len, is_temporary(path) ? TEMPORARY_DIGITS_MIN : DIGITS_MIN, out);
}

/* Names of the modules of p as strings of fns. */
static uint32_t *short_names(struct fb_functions *fns, const struct fb_profile *p)
{
    uint32_t *names = fb_alloc_array(p->modules_count, sizeof *names);
    struct fb_buf text = {0};

    for (size_t i = 1; i < p->modules_count; i++) {
        text.len = 0;
        fb_module_short_name(fb_profile_text(p, p->modules[i].path), &text);
        names[i] = fb_strings_put(&fns->strings, text.data ? text.data : "", text.len);
    }
    fb_buf_done(&text);
    return names;
}

static void unknown_name(const struct fb_functions *fns, enum fb_frame_kind kind, uint32_t module,
                         struct fb_buf *out)
{
    if (kind == FB_FRAME_KERNEL)
        fb_buf_puts(out, "[kernel]");
    else
        fb_buf_puts(out, kind == FB_FRAME_JIT ? "[unknown jit]" : "[unknown]");
    if (module != 0) {
        fb_buf_putc(out, ' ');
        fb_buf_puts(out, fb_strings_get(&fns->strings, module));
    }
}

enum fb_frame_kind fb_frame_kind_of_name(const struct fb_frame *f)
{
    return f->kind == FB_FRAME_INLINED && f->signature != 0 ? FB_FRAME_JAVA : f->kind;
}

/* What a string of the profile became, by the kind that it was met with last: 0, or kind + 1. */
struct made {
    uint32_t name, kind_plus_1;
};

/* The name of a frame as a string of fns: the canonical one, made once for each string. */
static uint32_t frame_name(struct fb_functions *fns, const struct fb_profile *p,
                           const struct fb_frame *f, uint32_t module, fb_canonical_fn canonical,
                           struct made *made, struct fb_buf *text)
{
    const struct fb_string *raw = &p->strings.items[f->name];
    enum fb_frame_kind kind = fb_frame_kind_of_name(f);

    text->len = 0;
    if (raw->len == 0) {
        unknown_name(fns, f->kind, module, text);
        return fb_strings_put(&fns->strings, text->data, text->len);
    }
    if (!canonical) {
        fb_buf_add(text, raw->text, raw->len);
        if (f->signature != 0)
            fb_buf_puts(text, fb_profile_text(p, f->signature));
        return fb_strings_put(&fns->strings, text->data, text->len);
    }
    if (made->kind_plus_1 != (uint32_t)kind + 1) {
        canonical(raw->text, raw->len, kind, text);
        if (text->len == 0)
            fb_buf_add(text, raw->text, raw->len);
        *made =
            (struct made){fb_strings_put(&fns->strings, text->data, text->len), (uint32_t)kind + 1};
    }
    return made->name;
}

static uint32_t put_frame(struct fb_functions *fns, const struct fb_profile *p,
                          const struct fb_frame *f, uint32_t module, uint32_t name)
{
    const struct fb_string *raw = &p->strings.items[f->name];
    uint32_t id = put(fns, f->kind, f->tier, module, name), raw_id = fns->items[id].name;

    if (raw->len > 0)
        raw_id = fb_strings_put(&fns->strings, raw->text, raw->len);
    note_raw(fns, id, raw_id, fb_frame_kind_of_name(f));
    if (fns->items[id].file == 0 && f->file != 0) {
        fns->items[id].file = fb_strings_put_z(&fns->strings, fb_profile_text(p, f->file));
        fns->items[id].line = f->line;
    }
    return id;
}

uint32_t *fb_functions_add(struct fb_functions *fns, const struct fb_profile *p,
                           fb_canonical_fn canonical)
{
    uint32_t *function_of_frame = fb_alloc_array(p->frames_count, sizeof *function_of_frame);
    uint32_t *modules = short_names(fns, p);
    struct made *made = fb_alloc_array(p->strings.count, sizeof *made);
    struct fb_buf text = {0};

    for (size_t i = 1; i < p->frames_count; i++) {
        const struct fb_frame *f = &p->frames[i];
        uint32_t module = modules[f->module];

        function_of_frame[i] = put_frame(
            fns, p, f, module, frame_name(fns, p, f, module, canonical, &made[f->name], &text));
    }
    fns->profiles++;
    fb_buf_done(&text);
    free(made);
    free(modules);
    return function_of_frame;
}

enum fb_tier fb_function_tier(const struct fb_function *f)
{
    if (f->tier != FB_TIER_UNKNOWN)
        return f->tier;
    switch (f->kind) {
    case FB_FRAME_NATIVE:
        return FB_TIER_NATIVE;
    case FB_FRAME_KERNEL:
        return FB_TIER_KERNEL;
    case FB_FRAME_JIT:
        return FB_TIER_JIT;
    case FB_FRAME_STUB:
        return FB_TIER_STUB;
    case FB_FRAME_INLINED:
        return FB_TIER_INLINED;
    case FB_FRAME_JAVA:
    case FB_FRAME_JS:
    case FB_FRAME_MARK:
    case FB_FRAME_KIND_COUNT:
        break;
    }
    return FB_TIER_UNKNOWN;
}

bool fb_function_is_thread(const struct fb_functions *fns, uint32_t id, struct fb_buf *ret_name)
{
    /* What the sampler and the readers call marks that are no threads. */
    static const char *const others[] = {"[truncated]", "[partial]", "[thread end]",
                                         "[lost definition]"};
    const struct fb_string *name = &fns->strings.items[fns->items[id].name];
    const char *tid;
    size_t len = name->len;

    if (id == 0 || fns->items[id].kind != FB_FRAME_MARK || len < 3 || name->text[0] != '[' ||
        name->text[len - 1] != ']')
        return false;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(name->text, others[i]) == 0)
            return false;
    tid = memmem(name->text, len, " tid=", 5);
    if (ret_name && tid)
        fb_buf_add(ret_name, name->text + 1, (size_t)(tid - name->text) - 1);
    else if (ret_name)
        fb_buf_add(ret_name, name->text + 1, len - 2);
    return true;
}
