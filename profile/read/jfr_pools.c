#include "profile/read/jfr_pools.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "base/vec.h"

enum { FRAMES_MOST = 1 << 16 /* of one stack */, NOT_MADE = UINT32_MAX };

/* What the members are depends on the pool: see take_entry(). */
struct fb_jfr_entry {
    uint64_t id, a, b, c;
    struct fb_jfr_text text;
    uint32_t made; /* its string, stack or thread in the profile; NOT_MADE */
    uint32_t signature;
    fb_frame_id frame; /* of a method: that of the type b and line c it was last met with; 0 none */
};

static const struct {
    const char *class;
    const char *fields[4];
} rows[FB_JFR_POOL_COUNT] = {
    [FB_JFR_SYMBOLS] = {"jdk.types.Symbol", {"string"}},
    [FB_JFR_CLASSES] = {"java.lang.Class", {"name"}},
    [FB_JFR_METHODS] = {"jdk.types.Method", {"type", "name", "descriptor"}},
    [FB_JFR_STACKS] = {"jdk.types.StackTrace", {"frames", "truncated"}},
    [FB_JFR_THREADS] = {"java.lang.Thread", {"javaName", "osName", "osThreadId", "javaThreadId"}},
    [FB_JFR_STRINGS] = {"java.lang.String", {""}},
    [FB_JFR_FRAME_TYPES] = {"jdk.types.FrameType", {"description"}},
    [FB_JFR_STATES] = {"jdk.types.ThreadState", {"name"}},
};

static size_t fields_of(size_t pool)
{
    size_t n = 0;

    while (n < 4 && rows[pool].fields[n])
        n++;
    return n;
}

void fb_jfr_pools_init(struct fb_jfr_pools *pools, struct fb_jfr_classes *classes,
                       struct fb_profile *p, struct fb_jfr_thread_ids *threads)
{
    static const char *const frame_fields[] = {"method", "lineNumber", "type"};

    *pools = (struct fb_jfr_pools){.classes = classes, .p = p, .threads = threads};
    for (size_t i = 0; i < FB_JFR_POOL_COUNT; i++) {
        const struct fb_jfr_class *class = fb_jfr_class_named(classes, rows[i].class);

        if (!class)
            continue;
        pools->pools[i].class_id = class->id;
        pools->pools[i].program = fb_jfr_program(classes, class, rows[i].fields, fields_of(i));
        pools->pools[i].exists = pools->pools[i].program != 0;
        if (i == FB_JFR_STACKS)
            pools->frame_program =
                fb_jfr_element_program(classes, class, "frames", frame_fields, 3);
    }
}

void fb_jfr_pools_done(struct fb_jfr_pools *pools)
{
    for (size_t i = 0; i < FB_JFR_POOL_COUNT; i++) {
        free(pools->pools[i].entries);
        fb_index_done(&pools->pools[i].index);
    }
    free(pools->frames);
    fb_buf_done(&pools->text);
}

static struct fb_jfr_entry *find(struct fb_jfr_pools *pools, enum fb_jfr_pool pool, uint64_t key)
{
    struct fb_index *index = &pools->pools[pool].index;
    struct fb_jfr_entry *entries = pools->pools[pool].entries;
    struct fb_index_cursor at;
    uint32_t i;

    /* Keys mostly count up. */
    if (pools->pools[pool].count > 0 && key - entries[0].id < pools->pools[pool].count &&
        entries[key - entries[0].id].id == key)
        return &entries[key - entries[0].id];
    at = fb_index_seek(index, fb_hash_mix(key));
    while (fb_index_step(index, &at, &i)) {
        if (pools->pools[pool].entries[i].id == key)
            return &pools->pools[pool].entries[i];
    }
    return NULL;
}

/* ---- texts ---- */

static void put_code_point(struct fb_buf *out, uint32_t c)
{
    if (c < 0x80) {
        fb_buf_putc(out, (char)c);
    } else if (c < 0x800) {
        fb_buf_putc(out, (char)(0xc0 | c >> 6));
        fb_buf_putc(out, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        fb_buf_putc(out, (char)(0xe0 | c >> 12));
        fb_buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
        fb_buf_putc(out, (char)(0x80 | (c & 0x3f)));
    } else {
        fb_buf_putc(out, (char)(0xf0 | c >> 18));
        fb_buf_putc(out, (char)(0x80 | (c >> 12 & 0x3f)));
        fb_buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
        fb_buf_putc(out, (char)(0x80 | (c & 0x3f)));
    }
}

/* UTF-16; a surrogate without its other half becomes U+FFFD. */
static void put_chars(struct fb_buf *out, const struct fb_jfr_text *text)
{
    struct fb_wire_in in = {.data = text->data, .len = text->len * 9};
    uint32_t high = 0;

    in.len = text->len > SIZE_MAX / 9 ? 0 : in.len;
    for (size_t i = 0; i < text->len; i++) {
        uint32_t c = (uint32_t)fb_jfr_varint(&in) & 0xffff;

        if (high != 0 && c >= 0xdc00 && c < 0xe000) {
            put_code_point(out, 0x10000 + ((high - 0xd800) << 10) + (c - 0xdc00));
            high = 0;
            continue;
        }
        if (high != 0)
            put_code_point(out, 0xfffd);
        high = c >= 0xd800 && c < 0xdc00 ? c : 0;
        if (high == 0)
            put_code_point(out, c >= 0xdc00 && c < 0xe000 ? 0xfffd : c);
    }
    if (high != 0)
        put_code_point(out, 0xfffd);
}

static void put_text(struct fb_jfr_pools *pools, struct fb_jfr_text text, struct fb_buf *out)
{
    if (text.coding == FB_JFR_POOL) {
        const struct fb_jfr_entry *e = find(pools, FB_JFR_STRINGS, text.len);

        text = e && e->text.coding != FB_JFR_POOL ? e->text : (struct fb_jfr_text){0};
    }
    if (text.coding == FB_JFR_UTF8) {
        fb_buf_add(out, text.data, text.len);
    } else if (text.coding == FB_JFR_CHARS) {
        put_chars(out, &text);
    } else if (text.coding == FB_JFR_LATIN1) {
        for (size_t i = 0; i < text.len; i++)
            put_code_point(out, text.data[i]);
    }
}

/* The string of what is in pools->text, which is emptied. */
static uint32_t take_text(struct fb_jfr_pools *pools)
{
    uint32_t id = fb_strings_put(&pools->p->strings, pools->text.data ? pools->text.data : "",
                                 pools->text.len);

    pools->text.len = 0;
    return id;
}

uint32_t fb_jfr_string(struct fb_jfr_pools *pools, const struct fb_jfr_text *text)
{
    pools->text.len = 0;
    put_text(pools, *text, &pools->text);
    return take_text(pools);
}

static uint32_t entry_string(struct fb_jfr_pools *pools, enum fb_jfr_pool pool, uint64_t key)
{
    struct fb_jfr_entry *e = find(pools, pool, key);

    if (!e)
        return 0;
    if (e->made == NOT_MADE)
        e->made = fb_jfr_string(pools, &e->text);
    return e->made;
}

/* ---- reading ---- */

static void take_entry(struct fb_jfr_pools *pools, enum fb_jfr_pool pool, uint64_t key,
                       const struct fb_jfr_value *v)
{
    struct fb_jfr_entry e = {.id = key, .made = NOT_MADE, .text = v[0].text};
    size_t n = pools->pools[pool].count;

    if (pool == FB_JFR_STACKS) { /* where its frames are, how many, and whether it is cut */
        e.text.data = v[0].list.data ? v[0].list.data + v[0].list.pos : NULL;
        e.text.len = v[0].list.data ? v[0].list.len - v[0].list.pos : 0;
        e.a = v[0].number;
        e.b = v[1].number;
    } else if (pool == FB_JFR_METHODS) { /* keys of class, name and descriptor */
        e.a = v[0].number;
        e.b = v[1].number;
        e.c = v[2].number;
    } else if (pool == FB_JFR_CLASSES) { /* key of the name */
        e.a = v[0].number;
    } else if (pool == FB_JFR_THREADS) { /* ids */
        e.text = v[0].text.coding > FB_JFR_EMPTY ? v[0].text : v[1].text;
        e.a = v[2].number;
        e.b = v[3].number;
    }
    if (pool == FB_JFR_FRAME_TYPES && e.text.len == 11 && e.text.coding == FB_JFR_UTF8 &&
        memcmp(e.text.data, "C1 compiled", 11) == 0)
        pools->tells_c1 = true;
    fb_vec_reserve(&pools->pools[pool].entries, &pools->pools[pool].room, n + 1, sizeof e);
    pools->pools[pool].entries[n] = e;
    fb_index_add(&pools->pools[pool].index, fb_hash_mix(key), (uint32_t)n);
    pools->pools[pool].count++;
}

static bool read_pool(struct fb_jfr_pools *pools, struct fb_wire_in *in)
{
    uint64_t class_id = fb_jfr_varint(in), n = fb_jfr_varint(in);
    struct fb_jfr_class *class = fb_jfr_class_find(pools->classes, class_id);
    size_t pool = 0;
    uint32_t program;

    while (pool < FB_JFR_POOL_COUNT &&
           !(pools->pools[pool].exists && pools->pools[pool].class_id == class_id))
        pool++;
    if (pool < FB_JFR_POOL_COUNT)
        program = pools->pools[pool].program;
    else
        program = class ? fb_jfr_skip_program(pools->classes, class) : 0;
    if (program == 0 && n > 0)
        return false;
    for (uint64_t i = 0; i < n && !in->bad; i++) {
        struct fb_jfr_value values[4] = {0};
        uint64_t key = fb_jfr_varint(in);

        if (!fb_jfr_value_read(pools->classes, program, in,
                               pool < FB_JFR_POOL_COUNT ? values : NULL))
            return false;
        if (pool < FB_JFR_POOL_COUNT && !find(pools, (enum fb_jfr_pool)pool, key))
            take_entry(pools, (enum fb_jfr_pool)pool, key, values);
    }
    return !in->bad;
}

bool fb_jfr_pools_read(struct fb_jfr_pools *pools, struct fb_wire_in in)
{
    uint64_t n;

    (void)fb_jfr_varint(&in); /* start, duration, way to the event before */
    (void)fb_jfr_varint(&in);
    (void)fb_jfr_varint(&in);
    (void)fb_wire_get_u8(&in); /* what it is a checkpoint for */
    n = fb_jfr_varint(&in);
    for (uint64_t i = 0; i < n && !in.bad; i++) {
        if (!read_pool(pools, &in))
            return false;
    }
    return !in.bad;
}

/* ---- to the profile ---- */

uint32_t fb_jfr_class_name(struct fb_jfr_pools *pools, uint64_t key)
{
    struct fb_jfr_entry *e = find(pools, FB_JFR_CLASSES, key);
    const struct fb_jfr_entry *name;

    if (!e)
        return 0;
    if (e->made != NOT_MADE)
        return e->made;
    name = find(pools, FB_JFR_SYMBOLS, e->a);
    pools->text.len = 0;
    if (name)
        put_text(pools, name->text, &pools->text);
    /* A hidden class has more: "Work$$Lambda$88+0x00007facc4007a08/1790421142". */
    for (size_t i = 0; i < pools->text.len && pools->text.data[i] != '+'; i++) {
        if (pools->text.data[i] == '/')
            pools->text.data[i] = '.';
    }
    e->made = take_text(pools);
    return e->made;
}

/* "class.method", the method alone where its class has no name (native code). */
static struct fb_jfr_entry *method(struct fb_jfr_pools *pools, uint64_t key)
{
    struct fb_jfr_entry *e = find(pools, FB_JFR_METHODS, key);
    uint32_t class;
    const struct fb_jfr_entry *name;

    if (!e || e->made != NOT_MADE)
        return e;
    class = fb_jfr_class_name(pools, e->a);
    name = find(pools, FB_JFR_SYMBOLS, e->b);
    pools->text.len = 0;
    if (class != 0) {
        fb_buf_add(&pools->text, pools->p->strings.items[class].text,
                   pools->p->strings.items[class].len);
        fb_buf_putc(&pools->text, '.');
    }
    if (name)
        put_text(pools, name->text, &pools->text);
    e->made = take_text(pools);
    e->signature = entry_string(pools, FB_JFR_SYMBOLS, e->c);
    e->a = class; /* its string from now on: whether there is a class */
    return e;
}

static void set_kind(const struct fb_jfr_pools *pools, const char *type, bool has_class,
                     struct fb_frame *f)
{
    f->kind = has_class ? FB_FRAME_JAVA : FB_FRAME_NATIVE;
    if (strcmp(type, "Interpreted") == 0)
        f->tier = FB_TIER_INTERPRETED;
    else if (strcmp(type, "C1 compiled") == 0)
        f->tier = FB_TIER_C1;
    else if (strcmp(type, "Inlined") == 0)
        f->kind = FB_FRAME_INLINED;
    else if (strcmp(type, "Kernel") == 0)
        f->kind = FB_FRAME_KERNEL;
    else if (strcmp(type, "C++") == 0)
        f->kind = FB_FRAME_NATIVE;
    else if (strcmp(type, "JIT compiled") == 0 && pools->tells_c1)
        f->tier = FB_TIER_C2;
    else if (strcmp(type, "JIT compiled") == 0)
        f->kind = FB_FRAME_JIT;
}

static fb_frame_id make_frame(struct fb_jfr_pools *pools, const struct fb_jfr_entry *m,
                              uint64_t type_key, uint64_t line)
{
    uint32_t type = entry_string(pools, FB_JFR_FRAME_TYPES, type_key);
    struct fb_frame f = {0};

    if (m) {
        f.name = m->made;
        f.signature = m->signature;
    }
    if (f.name == 0)
        f.name = fb_strings_put_z(&pools->p->strings, "[unknown]");
    set_kind(pools, fb_profile_text(pools->p, type), m && m->a != 0, &f);
    if (f.kind == FB_FRAME_NATIVE || f.kind == FB_FRAME_KERNEL)
        f.signature = 0; /* "()L;" of async-profiler */
    else if (line > 0 && line < INT32_MAX)
        f.line = (uint32_t)line;
    return fb_profile_frame_put(pools->p, &f);
}

/* v: keys of method and type, and the line between them. */
static fb_frame_id put_frame(struct fb_jfr_pools *pools, const uint64_t *v)
{
    struct fb_jfr_entry *m = method(pools, v[0]);

    if (!m)
        return make_frame(pools, NULL, v[2], 0);
    if (m->frame.n == 0 || m->b != v[2] || m->c != v[1]) {
        m->frame = make_frame(pools, m, v[2], v[1]);
        m->b = v[2];
        m->c = v[1];
    }
    return m->frame;
}

/* Frames come leaf first. */
static uint32_t make_stack(struct fb_jfr_pools *pools, const struct fb_jfr_entry *e)
{
    struct fb_wire_in in = {.data = e->text.data, .len = e->text.len};
    fb_stack_id stack = FB_STACK_ROOT;
    size_t n = 0;

    for (uint64_t i = 0; i < e->a && n < FRAMES_MOST; i++) {
        uint64_t values[3] = {0};

        if (!fb_jfr_numbers_read(pools->classes, pools->frame_program, &in, values))
            break;
        fb_vec_reserve(&pools->frames, &pools->frames_room, n + 1, sizeof *pools->frames);
        pools->frames[n++] = put_frame(pools, values);
    }
    while (n-- > 0)
        stack = fb_profile_stack_put(pools->p, stack, pools->frames[n]);
    return stack.n;
}

bool fb_jfr_stack(struct fb_jfr_pools *pools, uint64_t key, fb_stack_id *ret_stack)
{
    struct fb_jfr_entry *e;

    *ret_stack = FB_STACK_ROOT;
    if (key == 0)
        return true;
    e = find(pools, FB_JFR_STACKS, key);
    if (!e || pools->frame_program == 0)
        return false;
    if (e->made == NOT_MADE)
        e->made = make_stack(pools, e);
    pools->truncated += e->b != 0;
    ret_stack->n = e->made;
    return true;
}

uint32_t fb_jfr_state(struct fb_jfr_pools *pools, uint64_t key)
{
    return entry_string(pools, FB_JFR_STATES, key);
}

static uint32_t put_thread(struct fb_jfr_pools *pools, uint32_t tid, uint32_t name,
                           uint64_t java_id)
{
    struct fb_jfr_thread_ids *ids = pools->threads;
    uint64_t hash = fb_hash_pair((uint64_t)tid << 32 | name, java_id);
    struct fb_index_cursor at = fb_index_seek(&ids->index, hash);
    uint32_t i;

    while (fb_index_step(&ids->index, &at, &i)) {
        if (ids->items[i].tid == tid && ids->items[i].name == name &&
            ids->items[i].java_id == java_id)
            return i;
    }
    i = fb_profile_thread_add(pools->p, tid, name);
    fb_vec_reserve(&ids->items, &ids->room, (size_t)i + 1, sizeof *ids->items);
    ids->items[i].tid = tid;
    ids->items[i].name = name;
    ids->items[i].java_id = java_id;
    fb_index_add(&ids->index, hash, i);
    return i;
}

uint32_t fb_jfr_thread(struct fb_jfr_pools *pools, uint64_t key)
{
    struct fb_jfr_entry *e = find(pools, FB_JFR_THREADS, key);

    if (!e)
        return FB_NO_THREAD;
    if (e->made == NOT_MADE) {
        uint32_t name = fb_jfr_string(pools, &e->text);

        e->made = put_thread(pools, (uint32_t)e->a, name, e->b);
    }
    return e->made;
}
