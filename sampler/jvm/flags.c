/* flags.c - see flags.h. */
#include "sampler/jvm/flags.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sampler/jvm/layout_known.h"
#include "sampler/text.h"

enum {
    FLAGS_MAX = 4096,
    ENTRY_MAX = 64,
    ORIGIN_MASK = 15, /* of the word that holds it */
    ROUND = 32,       /* entries that are read at once */
};

static bool not_wanted;
static const char *answer;
static bool settled; /* the answer will be no other */

struct table {
    const struct fb_self_read *reader;
    const struct fb_jvm_layout *layout;
    uint64_t at;
    uint64_t count;
};

struct entry {
    uint64_t name;
    uint64_t address;
    uint32_t type;
    uint32_t origin;
};

static bool get(const struct fb_self_read *r, uint64_t address, void *to, size_t size)
{
    return fb_self_read(r, address, to, size) == size;
}

static bool table_find(const struct fb_self_read *r, const struct fb_jvm_layout *l,
                       struct table *ret)
{
    *ret = (struct table){.reader = r, .layout = l};
    return l->flags_at != 0 && l->flag_count_at != 0 && l->flag_name >= 0 && l->flag_address >= 0 &&
           l->flag_origin >= 0 && l->flag_type >= 0 && l->flag_size > 0 &&
           l->flag_size <= ENTRY_MAX && get(r, l->flags_at, &ret->at, 8) &&
           get(r, l->flag_count_at, &ret->count, 8) && ret->at != 0 && ret->count <= FLAGS_MAX;
}

/* A text of printable ASCII, cut where it is longer; false: nothing can be read there. */
static bool text_get(const struct fb_self_read *r, uint64_t address, char *to, size_t cap)
{
    size_t n = fb_self_read(r, address, to, cap - 1);
    size_t end = 0;

    while (end < n && to[end] >= ' ' && to[end] <= '~')
        end++;
    to[end] = '\0';
    return end > 0;
}

/* Where types have names: the number of the one at that address. */
static uint32_t type_named(const struct fb_self_read *r, const uint8_t *at)
{
    static const char *const names[FB_JVM_FLAG_TYPES] = {
        "bool",     "int",    "uint",   "intx",  "uintx",
        "uint64_t", "size_t", "double", "ccstr", "ccstrlist",
    };
    char name[12];
    uint64_t address;
    uint32_t type = 0;

    memcpy(&address, at, 8);
    if (!text_get(r, address, name, sizeof name))
        return FB_JVM_FLAG_TYPES;
    while (type < FB_JVM_FLAG_TYPES && strcmp(name, names[type]) != 0)
        type++;
    return type;
}

static struct entry entry_of(const struct table *t, const uint8_t *raw)
{
    const struct fb_jvm_layout *l = t->layout;
    struct entry e;

    memcpy(&e.name, raw + l->flag_name, 8);
    memcpy(&e.address, raw + l->flag_address, 8);
    if (l->release >= FB_JVM_RELEASE_FLAG_TYPES)
        memcpy(&e.type, raw + l->flag_type, 4);
    else
        e.type = type_named(t->reader, raw + l->flag_type);
    memcpy(&e.origin, raw + l->flag_origin, 4);
    e.origin &= ORIGIN_MASK;
    return e;
}

/* %.6g without stdio is more than flags are worth: they have few digits behind the point. */
static void double_put(struct fb_text *t, double value)
{
    uint64_t micro;

    if (!(value > -1e12 && value < 1e12))
        return;
    if (value < 0)
        fb_text_str(t, "-");
    micro = (uint64_t)((value < 0 ? -value : value) * 1e6 + 0.5);
    fb_text_dec(t, micro / 1000000);
    micro %= 1000000;
    if (micro == 0)
        return;
    fb_text_str(t, ".");
    fb_text_padded(t, micro, 6);
    while (t->data[t->len - 1] == '0')
        t->data[--t->len] = '\0';
}

static void signed_put(struct fb_text *t, int64_t value)
{
    if (value < 0)
        fb_text_str(t, "-");
    fb_text_dec(t, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static bool value_get(const struct fb_self_read *r, const struct entry *e, char *to, size_t cap)
{
    bool small = e->type == FB_JVM_FLAG_INT || e->type == FB_JVM_FLAG_UINT;
    struct fb_text t = {.data = to, .cap = cap};
    uint64_t value = 0;
    double number;

    to[0] = '\0';
    if (e->type >= FB_JVM_FLAG_TYPES || !get(r, e->address, &value,
                                             e->type == FB_JVM_FLAG_BOOL ? 1
                                             : small                     ? 4
                                                                         : 8))
        return false;
    switch (e->type) {
    case FB_JVM_FLAG_BOOL:
        fb_text_str(&t, value != 0 ? "true" : "false");
        return value <= 1;
    case FB_JVM_FLAG_INT:
        signed_put(&t, (int32_t)value);
        return true;
    case FB_JVM_FLAG_INTX:
        signed_put(&t, (int64_t)value);
        return true;
    case FB_JVM_FLAG_DOUBLE:
        memcpy(&number, &value, sizeof number);
        double_put(&t, number);
        return true;
    case FB_JVM_FLAG_STRING:
    case FB_JVM_FLAG_STRINGS:
        return value == 0 || text_get(r, value, to, cap);
    default:
        fb_text_dec(&t, value);
        return true;
    }
}

/* Calls for each entry until one answers true. */
static bool entries_each(const struct table *t, bool (*each)(void *ctx, const struct entry *e),
                         void *ctx)
{
    uint8_t raw[ROUND * ENTRY_MAX];
    size_t size = (size_t)t->layout->flag_size;

    for (uint64_t i = 0; i < t->count; i += ROUND) {
        size_t n = t->count - i < ROUND ? (size_t)(t->count - i) : ROUND;

        if (!get(t->reader, t->at + i * size, raw, n * size))
            return false;
        for (size_t k = 0; k < n; k++) {
            struct entry e = entry_of(t, raw + k * size);

            if (e.name != 0 && e.address != 0 && each(ctx, &e))
                return true;
        }
    }
    return false;
}

struct look {
    const struct fb_self_read *reader;
    const char *name;
    struct entry found;
};

static bool is_looked_for(void *ctx, const struct entry *e)
{
    struct look *look = ctx;
    char name[FB_JVM_FLAG_NAME];

    if (e->type != FB_JVM_FLAG_BOOL || !text_get(look->reader, e->name, name, sizeof name) ||
        strcmp(name, look->name) != 0)
        return false;
    look->found = *e;
    return true;
}

static bool bool_find(const struct fb_self_read *reader, const struct fb_jvm_layout *layout,
                      const char *name, struct entry *ret, bool *ret_value)
{
    struct look look = {.reader = reader, .name = name};
    struct table table;
    uint8_t value;

    if (!table_find(reader, layout, &table) || !entries_each(&table, is_looked_for, &look) ||
        !get(reader, look.found.address, &value, 1) || value > 1)
        return false;
    *ret = look.found;
    *ret_value = value != 0;
    return true;
}

bool fb_jvm_flag_bool(const struct fb_self_read *reader, const struct fb_jvm_layout *layout,
                      const char *name, bool *ret_value)
{
    struct entry found;

    return bool_find(reader, layout, name, &found, ret_value);
}

/* --- DebugNonSafepoints ------------------------------------------------------------------------
 */

void fb_jvm_flags_want(bool nonsafepoints)
{
    not_wanted = !nonsafepoints;
}

/* By the file of our own memory, so that a page that cannot be written is an answer. */
static bool byte_set(uint64_t address, uint8_t value)
{
    int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    bool ok = fd >= 0 && pwrite(fd, &value, 1, (off_t)address) == 1;

    if (fd >= 0)
        close(fd);
    return ok;
}

void fb_jvm_flags_begin(const struct fb_self_read *reader, const struct fb_jvm_layout *layout)
{
    struct entry flag;
    bool value;

    if (settled)
        return;
    settled = not_wanted || bool_find(reader, layout, "DebugNonSafepoints", &flag, &value);
    if (not_wanted)
        answer = "left as it is (FLAMEBANK_JVM_NONSAFEPOINTS=0)";
    else if (!settled)
        answer = "left as it is (this JVM has no such flag)";
    else if (value)
        answer = "was set";
    else if (flag.origin != FB_JVM_FLAG_DEFAULT)
        answer = "left as it is (the user has set it)";
    else
        answer = byte_set(flag.address, 1) ? "set by the sampler"
                                           : "left as it is (memory cannot be written)";
}

void fb_jvm_flags_forget(void)
{
    settled = false;
    answer = NULL;
}

const char *fb_jvm_nonsafepoints(void)
{
    return answer;
}

/* --- all of them -------------------------------------------------------------------------------
 */

struct walk {
    const struct fb_self_read *reader;
    void (*each)(void *ctx, const struct fb_jvm_flag *flag);
    void *ctx;
};

static bool flag_tell(void *ctx, const struct entry *e)
{
    const struct walk *w = ctx;
    struct fb_jvm_flag flag = {.origin = (enum fb_jvm_flag_origin)e->origin};

    if (e->origin != FB_JVM_FLAG_DEFAULT && e->origin < FB_JVM_FLAG_ORIGINS &&
        text_get(w->reader, e->name, flag.name, sizeof flag.name) &&
        value_get(w->reader, e, flag.value, sizeof flag.value))
        w->each(w->ctx, &flag);
    return false;
}

bool fb_jvm_flags_each(const struct fb_self_read *reader, const struct fb_jvm_layout *layout,
                       void (*each)(void *ctx, const struct fb_jvm_flag *flag), void *ctx)
{
    struct walk walk = {reader, each, ctx};
    struct table table;

    if (!table_find(reader, layout, &table))
        return false;
    entries_each(&table, flag_tell, &walk);
    return true;
}
