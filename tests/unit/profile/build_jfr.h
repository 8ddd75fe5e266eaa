/* build_jfr.h - a small recording, written as the JDK writes one: names in the metadata as UTF-16,
 * padded sizes, constants behind the samples. */
#ifndef FB_TESTS_BUILD_JFR_H
#define FB_TESTS_BUILD_JFR_H

#include <string.h>

#include "base/buf.h"

static inline void jfr_varint(struct fb_buf *out, uint64_t v)
{
    for (unsigned i = 0; i < 8 && v >= 0x80; i++, v >>= 7)
        fb_buf_putc(out, (char)(v | 0x80));
    fb_buf_putc(out, (char)v);
}

static inline void jfr_big(struct fb_buf *out, uint64_t v, unsigned width)
{
    while (width-- > 0)
        fb_buf_putc(out, (char)(v >> (8 * width)));
}

/* coding 3 UTF-8, 4 UTF-16 units, 5 Latin-1 */
static inline void jfr_text(struct fb_buf *out, unsigned coding, const char *text)
{
    fb_buf_putc(out, (char)coding);
    jfr_varint(out, strlen(text));
    fb_buf_puts(out, text);
}

/* Takes the payload, with its type; the size in four bytes, as the JDK leaves room for it. */
static inline void jfr_event(struct fb_buf *out, uint64_t type, struct fb_buf *payload)
{
    struct fb_buf type_bytes = {0};
    uint64_t size;

    jfr_varint(&type_bytes, type);
    size = 4 + type_bytes.len + payload->len;
    for (int i = 0; i < 4; i++, size >>= 7)
        fb_buf_putc(out, (char)((size & 0x7f) | (i < 3 ? 0x80 : 0)));
    fb_buf_add(out, type_bytes.data, type_bytes.len);
    fb_buf_add(out, payload->data, payload->len);
    fb_buf_done(&type_bytes);
    payload->len = 0;
}

/* ---- metadata ---- */

enum jfr_class {
    JFR_LONG = 20,
    JFR_INT,
    JFR_BOOLEAN,
    JFR_STRING,
    JFR_SYMBOL,
    JFR_CLASS,
    JFR_METHOD,
    JFR_FRAME_TYPE,
    JFR_FRAME,
    JFR_STACK,
    JFR_THREAD,
    JFR_STATE,
    JFR_EXECUTION,
    JFR_ALLOCATION,
    JFR_SETTING,
};

struct jfr_field {
    const char *name;
    enum jfr_class type;
    const char *pooled, *dimension; /* NULL: no such attribute */
};

static struct { /* a test may change them */
    const char *name;
    enum jfr_class id;
    struct jfr_field fields[6];
} jfr_classes[] = {
    {"long", JFR_LONG, {{0}}},
    {"int", JFR_INT, {{0}}},
    {"boolean", JFR_BOOLEAN, {{0}}},
    {"java.lang.String", JFR_STRING, {{0}}},
    {"jdk.types.Symbol", JFR_SYMBOL, {{"string", JFR_STRING, NULL, NULL}}},
    {"java.lang.Class", JFR_CLASS, {{"name", JFR_SYMBOL, "true", NULL}}},
    {"jdk.types.Method",
     JFR_METHOD,
     {{"type", JFR_CLASS, "true", NULL},
      {"name", JFR_SYMBOL, "true", NULL},
      {"descriptor", JFR_SYMBOL, "true", NULL}}},
    {"jdk.types.FrameType", JFR_FRAME_TYPE, {{"description", JFR_STRING, NULL, NULL}}},
    {"jdk.types.StackFrame",
     JFR_FRAME,
     {{"method", JFR_METHOD, "true", NULL},
      {"lineNumber", JFR_INT, NULL, NULL},
      {"type", JFR_FRAME_TYPE, "true", NULL}}},
    {"jdk.types.StackTrace",
     JFR_STACK,
     {{"truncated", JFR_BOOLEAN, NULL, NULL}, {"frames", JFR_FRAME, NULL, "1"}}},
    {"java.lang.Thread",
     JFR_THREAD,
     {{"osName", JFR_STRING, NULL, NULL},
      {"osThreadId", JFR_LONG, NULL, NULL},
      {"javaName", JFR_STRING, NULL, NULL},
      {"javaThreadId", JFR_LONG, NULL, NULL}}},
    {"jdk.types.ThreadState", JFR_STATE, {{"name", JFR_STRING, NULL, NULL}}},
    {"jdk.ExecutionSample",
     JFR_EXECUTION,
     {{"startTime", JFR_LONG, NULL, NULL},
      {"sampledThread", JFR_THREAD, "true", NULL},
      {"stackTrace", JFR_STACK, "true", NULL},
      {"state", JFR_STATE, "true", NULL}}},
    {"jdk.ObjectAllocationSample",
     JFR_ALLOCATION,
     {{"startTime", JFR_LONG, NULL, NULL},
      {"eventThread", JFR_THREAD, "true", NULL},
      {"stackTrace", JFR_STACK, "true", NULL},
      {"objectClass", JFR_CLASS, "true", NULL},
      {"weight", JFR_LONG, NULL, NULL}}},
    {"jdk.ActiveSetting",
     JFR_SETTING,
     {{"startTime", JFR_LONG, NULL, NULL},
      {"id", JFR_LONG, NULL, NULL},
      {"name", JFR_STRING, NULL, NULL},
      {"value", JFR_STRING, NULL, NULL}}},
};

struct jfr_names {
    const char *items[200];
    size_t count;
    char numbers[64][8];
    size_t numbers_count;
};

static inline uint64_t jfr_name(struct jfr_names *names, const char *text)
{
    size_t i = 0;

    while (i < names->count && strcmp(names->items[i], text) != 0)
        i++;
    if (i == names->count)
        names->items[names->count++] = text;
    return i;
}

static inline uint64_t jfr_number(struct jfr_names *names, int n)
{
    char *text = names->numbers[names->numbers_count++];

    (void)snprintf(text, 8, "%d", n);
    return jfr_name(names, text);
}

static inline void jfr_put_field(struct fb_buf *out, struct jfr_names *names,
                                 const struct jfr_field *f)
{
    jfr_varint(out, jfr_name(names, "field"));
    jfr_varint(out, 2u + (f->pooled != NULL) + (f->dimension != NULL));
    jfr_varint(out, jfr_name(names, "name"));
    jfr_varint(out, jfr_name(names, f->name));
    jfr_varint(out, jfr_name(names, "class"));
    jfr_varint(out, jfr_number(names, (int)f->type));
    if (f->pooled) {
        jfr_varint(out, jfr_name(names, "constantPool"));
        jfr_varint(out, jfr_name(names, f->pooled));
    }
    if (f->dimension) {
        jfr_varint(out, jfr_name(names, "dimension"));
        jfr_varint(out, jfr_name(names, f->dimension));
    }
    jfr_varint(out, 0);
}

static inline void jfr_metadata(struct fb_buf *out)
{
    static const size_t n = sizeof jfr_classes / sizeof jfr_classes[0];
    struct jfr_names names = {0};
    struct fb_buf tree = {0}, payload = {0};

    jfr_varint(&tree, jfr_name(&names, "root"));
    jfr_varint(&tree, 0);
    jfr_varint(&tree, 1);
    jfr_varint(&tree, jfr_name(&names, "metadata"));
    jfr_varint(&tree, 0);
    jfr_varint(&tree, n);
    for (size_t i = 0; i < n; i++) {
        size_t fields = 0;

        while (fields < 6 && jfr_classes[i].fields[fields].name)
            fields++;
        jfr_varint(&tree, jfr_name(&names, "class"));
        jfr_varint(&tree, 2);
        jfr_varint(&tree, jfr_name(&names, "id"));
        jfr_varint(&tree, jfr_number(&names, (int)jfr_classes[i].id));
        jfr_varint(&tree, jfr_name(&names, "name"));
        jfr_varint(&tree, jfr_name(&names, jfr_classes[i].name));
        jfr_varint(&tree, fields);
        for (size_t k = 0; k < fields; k++)
            jfr_put_field(&tree, &names, &jfr_classes[i].fields[k]);
    }
    fb_buf_add(&payload, "\1\0\1", 3); /* start, duration, id */
    jfr_varint(&payload, names.count);
    for (size_t i = 0; i < names.count; i++)
        jfr_text(&payload, 4, names.items[i]);
    fb_buf_add(&payload, tree.data, tree.len);
    jfr_event(out, 0, &payload);
    fb_buf_done(&tree);
    fb_buf_done(&payload);
}

/* ---- constants and events ---- */

static inline void jfr_pool_texts(struct fb_buf *out, enum jfr_class class, unsigned coding,
                                  const char *const *texts, size_t n)
{
    jfr_varint(out, class);
    jfr_varint(out, n);
    for (size_t i = 0; i < n; i++) {
        jfr_varint(out, i + 1);
        jfr_text(out, coding, texts[i]);
    }
}

/* Stacks 1 (Work.fib inlined into Work.run) and 2 (native write below Work.run). */
static inline void jfr_checkpoint(struct fb_buf *out)
{
    static const char *const symbols[] = {"app/Work", "run", "fib", "()V", "(I)J", "write", ""};
    static const char *const types[] = {"Interpreted", "Inlined", "Native"};
    static const char *const states[] = {"STATE_RUNNABLE"};
    struct fb_buf m = {0};

    fb_buf_add(&m, "\1\0\0\0", 4); /* start, duration, way to the one before, kind */
    jfr_varint(&m, 7);
    jfr_pool_texts(&m, JFR_SYMBOL, 3, symbols, 7);
    jfr_pool_texts(&m, JFR_FRAME_TYPE, 3, types, 3);
    jfr_pool_texts(&m, JFR_STATE, 5, states, 1);
    jfr_varint(&m, JFR_CLASS);
    fb_buf_add(&m, "\2\1\1\2\7", 5); /* 1: app/Work, 2: without a name */
    jfr_varint(&m, JFR_METHOD);
    fb_buf_add(&m, "\3\1\1\2\4\2\1\3\5\3\2\6\7", 13);
    jfr_varint(&m, JFR_STACK);
    fb_buf_putc(&m, 2);
    fb_buf_add(&m, "\1\0\2\2\7\2\1\5\1", 9);
    fb_buf_add(&m, "\2\1\2\3\0\3\1\6\1", 9);
    jfr_varint(&m, JFR_THREAD);
    fb_buf_putc(&m, 1);
    fb_buf_putc(&m, 9); /* key */
    jfr_text(&m, 3, "Thread-0");
    jfr_varint(&m, 4711);
    fb_buf_putc(&m, 4); /* "wö" in UTF-16 */
    jfr_varint(&m, 2);
    jfr_varint(&m, 'w');
    jfr_varint(&m, 0xf6);
    jfr_varint(&m, 21);
    jfr_event(out, 1, &m);
    fb_buf_done(&m);
}

static inline void jfr_sample(struct fb_buf *out, uint64_t ticks, unsigned stack)
{
    struct fb_buf m = {0};

    jfr_varint(&m, ticks);
    fb_buf_putc(&m, 9);
    jfr_varint(&m, stack);
    fb_buf_putc(&m, 1);
    jfr_event(out, JFR_EXECUTION, &m);
    fb_buf_done(&m);
}

static inline void jfr_allocation(struct fb_buf *out, uint64_t ticks, unsigned stack,
                                  uint64_t weight)
{
    struct fb_buf m = {0};

    jfr_varint(&m, ticks);
    fb_buf_putc(&m, 9);
    jfr_varint(&m, stack);
    fb_buf_putc(&m, 1);
    jfr_varint(&m, weight);
    jfr_event(out, JFR_ALLOCATION, &m);
    fb_buf_done(&m);
}

/* Three samples of 20 ms, and allocations of 4096 and 100 bytes. */
static inline void jfr_events(struct fb_buf *out, bool allocations)
{
    struct fb_buf m = {0};

    jfr_varint(&m, 1000);
    jfr_varint(&m, JFR_EXECUTION);
    jfr_text(&m, 3, "period");
    jfr_text(&m, 3, "20 ms");
    jfr_event(out, JFR_SETTING, &m);
    jfr_sample(out, 1000 + 20000, 1);
    jfr_sample(out, 1000 + 40000, 2);
    jfr_sample(out, 1000 + 60000, 1);
    if (allocations) {
        jfr_allocation(out, 1000 + 70000, 1, 4096);
        jfr_allocation(out, 1000 + 80000, 2, 100);
    }
    fb_buf_done(&m);
}

/* Header of a chunk of ticks of a microsecond; size 0: it is still written. */
static inline void jfr_header(struct fb_buf *out, uint64_t size, unsigned flushes)
{
    fb_buf_add(out, "FLR\0\0\2\0\1", 8);
    jfr_big(out, size, 8);
    jfr_big(out, 0, 8);
    jfr_big(out, 0, 8);
    jfr_big(out, 1700000000000000000, 8);
    jfr_big(out, 0, 8);
    jfr_big(out, 1000, 8);
    jfr_big(out, 1000000, 8);
    jfr_big(out, (uint64_t)flushes << 24 | 1, 4);
}

static inline void jfr_chunk(struct fb_buf *out, bool allocations)
{
    struct fb_buf body = {0};

    jfr_metadata(&body);
    jfr_events(&body, allocations);
    jfr_checkpoint(&body);
    jfr_header(out, 68 + body.len, 0);
    fb_buf_add(out, body.data, body.len);
    fb_buf_done(&body);
}

#endif
