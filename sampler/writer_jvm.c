/* writer_jvm.c - see writer_jvm.h. */
#include "sampler/writer_jvm.h"

#include <string.h>
#include <sys/mman.h>

#include "profile/raw_format.h"
#include "sampler/intern.h"
#include "sampler/jvm/class_path.h"
#include "sampler/jvm/flags.h"
#include "sampler/jvm/lines.h"
#include "sampler/jvm/manifest.h"
#include "sampler/jvm/perf_data.h"
#include "sampler/jvm/signal/frame_word.h"
#include "sampler/jvm/signal/names.h"
#include "sampler/jvm/signal/vm.h"
#include "sampler/jvm/start.h"
#include "sampler/jvm/utf8.h"
#include "sampler/self_read.h"
#include "sampler/signal/pool.h"
#include "sampler/writer.h"
#include "sampler/writer_names.h"

enum {
    NAME_MAX_BYTES = FB_JVM_CLASS_MAX + 1 + FB_JVM_METHOD_MAX + FB_JVM_PLAIN_MAX,
    FILE_BYTES_MAX = 256,
    PROBES = 16,
};

/* String ids of a name. */
struct known {
    uint32_t name;
    uint32_t descriptor;
    uint32_t file;
};

/* Descriptors and files are few and names many: "()V" is one string. */
struct short_text {
    uint64_t hash;
    uint32_t string; /* 0: empty */
    uint32_t zero;
};

enum {
    KNOWN_BYTES = FB_JVM_NAMES_MAX * sizeof(struct known),
    SHORT_BYTES = FB_WRITER_JVM_SHORT * sizeof(struct short_text),
};

static struct known *known_of(struct fb_writer_jvm *j, uint32_t id)
{
    return (struct known *)j->known.data + id;
}

static struct short_text *short_texts(struct fb_writer_jvm *j)
{
    return (struct short_text *)(void *)((uint8_t *)j->known.data + KNOWN_BYTES);
}

/* As the JVM writes text: letters beyond 16 bits are two of three bytes. */
static uint32_t string_put(struct fb_writer *w, const char *text, size_t n)
{
    char letters[NAME_MAX_BYTES];

    return fb_writer_string(w, letters, fb_jvm_utf8_text(text, n, letters));
}

_Static_assert((int)NAME_MAX_BYTES <= (int)FB_WRITER_STRING_MAX, "it fits");

static uint32_t name_put(struct fb_writer *w, const struct fb_jvm_name_text *t)
{
    char name[NAME_MAX_BYTES];
    size_t n = 0;

    if (t->is_plain)
        return string_put(w, t->bytes, t->method_len);
    for (; n < t->class_len; n++)
        name[n] = t->bytes[n] == '/' ? '.' : t->bytes[n];
    name[n++] = '.';
    memcpy(name + n, t->bytes + t->class_len, t->method_len);
    return string_put(w, name, n + t->method_len);
}

static uint32_t short_put(struct fb_writer *w, const char *text, size_t n)
{
    struct short_text *table = short_texts(&w->jvm);
    uint64_t hash = 0xcbf29ce484222325u;
    struct short_text *free_one = NULL;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
    for (unsigned i = 0; i < PROBES && free_one == NULL; i++) {
        struct short_text *d = &table[((hash >> 20) + i) & (FB_WRITER_JVM_SHORT - 1)];

        if (d->string == 0)
            free_one = d;
        else if (d->hash == hash)
            return d->string;
    }
    if (free_one == NULL)
        return string_put(w, text, n);
    *free_one = (struct short_text){.hash = hash, .string = string_put(w, text, n)};
    return free_one->string;
}

/* The strings of a name; NULL: no memory. */
static const struct known *known_get(struct fb_writer *w, uint32_t id)
{
    const struct fb_jvm_name_text *t;
    char file[FILE_BYTES_MAX];
    struct known *k;
    size_t n;

    if (w->jvm.known.data == NULL && !fb_pages_map(&w->jvm.known, KNOWN_BYTES + SHORT_BYTES))
        return NULL;
    k = known_of(&w->jvm, id);
    if (k->name != 0)
        return k;
    t = (const struct fb_jvm_name_text *)(const void *)(fb_jvm_names.text +
                                                        fb_jvm_names.entries[id].text);
    k->name = name_put(w, t);
    if (t->is_plain)
        return k;
    k->descriptor = short_put(w, t->bytes + t->class_len + t->method_len, t->descriptor_len);
    n = fb_jvm_source(id, file, sizeof file);
    if (n > 0)
        k->file = short_put(w, file, n);
    return k;
}

static enum fb_frame_kind kind_of(uint64_t word)
{
    if (fb_jvm_word_name(word) == FB_JVM_NAME_FULL)
        return FB_FRAME_MARK;
    switch (fb_jvm_word_kind(word)) {
    case FB_JVM_INTERPRETED:
    case FB_JVM_COMPILED:
    case FB_JVM_NATIVE:
        return FB_FRAME_JAVA;
    case FB_JVM_INLINED:
        return FB_FRAME_INLINED;
    case FB_JVM_STUB:
        return FB_FRAME_STUB;
    case FB_JVM_MARK:
        return FB_FRAME_MARK;
    }
    return FB_FRAME_JIT;
}

static enum fb_frame_tier tier_of(uint64_t word, enum fb_frame_kind kind)
{
    if (kind != FB_FRAME_JAVA)
        return FB_FRAME_TIER_UNKNOWN;
    switch (fb_jvm_word_tier(word)) {
    case FB_JVM_TIER_INTERPRETER:
        return FB_FRAME_TIER_INTERPRETED;
    case FB_JVM_TIER_C1:
    case FB_JVM_TIER_C1_COUNTERS:
    case FB_JVM_TIER_C1_PROFILE:
        return FB_FRAME_TIER_C1;
    case FB_JVM_TIER_C2:
        return FB_FRAME_TIER_C2;
    case FB_JVM_TIER_UNKNOWN:
        break;
    }
    return FB_FRAME_TIER_UNKNOWN;
}

uint32_t fb_writer_jvm_frame(struct fb_writer *w, uint64_t word)
{
    uint32_t id = fb_jvm_word_name(word);
    bool is_named = id != FB_JVM_NAME_NONE && id < FB_JVM_NAMES_MAX && fb_jvm_names.text != NULL;
    enum fb_frame_kind kind = is_named ? kind_of(word) : FB_FRAME_JIT;
    enum fb_frame_tier tier = tier_of(word, kind);
    uint32_t line = is_named ? fb_jvm_line(id, fb_jvm_word_bci(word)) : 0;
    struct fb_frame_key key = {.address = FB_JVM_WORD_MARK | (uint64_t)line << 40 |
                                          (uint64_t)tier << 36 | id,
                               .kind = (uint8_t)kind};
    const struct known *known = is_named ? known_get(w, id) : &(const struct known){0, 0, 0};
    bool is_new;
    uint32_t frame;

    if (known == NULL || w->names.lost)
        return 0;
    frame = fb_intern_frame(&w->intern, &key, &is_new);
    if (frame == 0 || !is_new)
        return frame;
    fb_writer_facts(w, &(struct fb_frame_facts){
                           .frame = frame,
                           .tier = tier,
                           .signature = known->descriptor,
                           .file = known->file,
                           .line = line,
                       });
    fb_wire_put_u8(&w->frames.body, key.kind);
    fb_wire_put_varint(&w->frames.body, 0); /* no module, no address */
    fb_wire_put_varint(&w->frames.body, 0);
    fb_wire_put_varint(&w->frames.body, known->name);
    w->frames.count++;
    return frame;
}

/* jdk.internal.vm.Continuation's enter, enter0 and enterSpecial: of 19 to 25. */
bool fb_writer_jvm_is_border(uint64_t word)
{
    static const char class_name[] = "jdk/internal/vm/Continuation";
    static const char method[] = "enter";
    const size_t n = sizeof class_name - 1;
    uint32_t id = fb_jvm_word_name(word);
    const struct fb_jvm_name_text *t;

    if (!fb_jvm_word_is(word) || id < FB_JVM_NAME_FIRST || id >= FB_JVM_NAMES_MAX ||
        fb_jvm_names.text == NULL)
        return false;
    t = (const struct fb_jvm_name_text *)(const void *)(fb_jvm_names.text +
                                                        fb_jvm_names.entries[id].text);
    return !t->is_plain && t->class_len == n && t->method_len >= sizeof method - 1 &&
           memcmp(t->bytes, class_name, n) == 0 &&
           memcmp(t->bytes + n, method, sizeof method - 1) == 0;
}

static void manifest_put(struct fb_writer *w)
{
    struct fb_jvm_perf_values values;
    struct fb_self_read reader;

    fb_jvm_perf_read(&values); /* are there any? */
    fb_jvm_manifest_put_walk("yes", &w->misc);
    fb_self_read_open(&reader);
    fb_jvm_manifest_put(&reader, &fb_jvm.layout, fb_jvm_library(), w->sink.crc_table, &w->misc);
    fb_self_read_close(&reader);
    fb_class_path_put_own(
        &(struct fb_class_path_from){.environment = w->manifest->environment,
                                     .environment_size = w->manifest->environment_size,
                                     .cwd = w->manifest->cwd},
        w->sink.crc_table, &w->misc);
}

void fb_writer_jvm_tell(struct fb_writer *w, bool last)
{
    const char *why;
    enum fb_jvm_state state = fb_jvm_state(&why);

    if (state == FB_JVM_WALKED)
        fb_jvm_names_prepare();
    if (last && state == FB_JVM_COMING)
        why = "was not ready before the program ended";
    else if (state != FB_JVM_WALKED && state != FB_JVM_REFUSED)
        return;
    if (w->jvm.told == state)
        return;
    fb_chunk_begin(&w->misc, w->misc.memory, w->misc.size);
    if (state == FB_JVM_WALKED)
        manifest_put(w);
    else
        fb_jvm_manifest_put_walk(why, &w->misc);
    if (fb_sink_write_list(&w->sink, &w->misc, FB_CHUNK_MANIFEST, NULL))
        w->jvm.told = state;
}

void fb_writer_jvm_forget(struct fb_writer *w)
{
    if (w->jvm.known.data != NULL)
        madvise(w->jvm.known.data, w->jvm.known.size, MADV_DONTNEED);
}
