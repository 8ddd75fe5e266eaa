/* writer_symbols.c - see writer_symbols.h. */
#include "sampler/writer_symbols.h"

#include <string.h>

#include "sampler/clock.h"
#include "sampler/writer.h"

enum { SYMBOL_BYTES_MAX = 5 + 5 + 1 + 1 };

static void symbol_put(struct fb_writer *w, uint32_t frame, uint32_t string)
{
    fb_wire_put_varint(&w->misc.body, frame);
    fb_wire_put_varint(&w->misc.body, string);
    fb_wire_put_varint(&w->misc.body, 0); /* no file, no line */
    fb_wire_put_varint(&w->misc.body, 0);
    w->misc.count++;
}

/* Strings first. */
static void symbols_write(struct fb_writer *w)
{
    if (w->misc.count > 0 && fb_writer_names_write(w))
        fb_sink_write_list(&w->sink, &w->misc, FB_CHUNK_SYMBOLS, NULL);
    fb_chunk_begin(&w->misc, w->misc.memory, w->misc.size);
}

/* Neighbours are often addresses of one function. */
static void kernel_names_write(struct fb_writer *w)
{
    struct fb_kernel_names *k = &w->kernel;
    uint64_t start = 0;
    uint32_t string = 0;

    fb_kernel_names_find(k);
    fb_chunk_begin(&w->misc, w->misc.memory, w->misc.size);
    for (uint32_t i = 0; i < k->count; i++) {
        const struct fb_kernel_want *want = &k->wants[i];

        if (want->start == 0)
            continue;
        if (want->start != start)
            string = fb_writer_string(w, want->name, strlen(want->name));
        start = want->start;
        symbol_put(w, want->frame, string);
    }
    symbols_write(w);
    fb_kernel_names_clear(k);
}

struct naming {
    struct fb_writer *w;
    uint32_t string;
};

static void on_name(void *ctx, uint32_t frame, const char *name, bool same)
{
    struct naming *n = ctx;
    struct fb_writer *w = n->w;

    if (w->misc.body.cap - w->misc.body.len < SYMBOL_BYTES_MAX)
        symbols_write(w);
    if (!same)
        n->string = fb_writer_string(w, name, strlen(name));
    symbol_put(w, frame, n->string);
}

/* Readers of these names demangle, and find better ones where the files are. */
static void names_tell(struct fb_writer *w)
{
    static const char key[] = "names";
    static const char value[] = "symbol tables";

    if (w->names_told)
        return;
    fb_chunk_begin(&w->misc, w->misc.memory, w->misc.size);
    fb_wire_put_blob(&w->misc.body, key, sizeof key - 1);
    fb_wire_put_blob(&w->misc.body, value, sizeof value - 1);
    w->misc.count++;
    w->names_told = fb_sink_write_list(&w->sink, &w->misc, FB_CHUNK_MANIFEST, NULL);
}

void fb_writer_symbols_look(struct fb_writer *w, bool last)
{
    struct naming naming = {.w = w};

    if (fb_kernel_names_due(&w->kernel, last))
        kernel_names_write(w);
    if (!fb_module_names_due(&w->native, fb_clock_now(), last))
        return;
    names_tell(w);
    fb_chunk_begin(&w->misc, w->misc.memory, w->misc.size);
    fb_module_names_find(&w->native, last, on_name, &naming);
    symbols_write(w);
}
