/* writer_names.c - see writer_names.h. */
#include "sampler/writer_names.h"

#include "sampler/signal/pool.h"
#include "sampler/writer.h"

enum { FACTS_BYTES_MAX = 5 + 1 + 5 + 5 + 5 }; /* of a frame */

_Static_assert((int)FB_WRITER_STRING_MAX + FB_WIRE_VARINT_MAX < (int)FB_WRITER_NAMES_STRINGS_BYTES,
               "any string fits an empty chunk");

void fb_writer_names_init(struct fb_writer *w, uint8_t *memory)
{
    w->names = (struct fb_writer_names){.lost = false};
    fb_chunk_begin(&w->names.strings, memory, FB_WRITER_NAMES_STRINGS_BYTES);
    fb_chunk_begin(&w->names.facts, memory + FB_WRITER_NAMES_STRINGS_BYTES,
                   FB_WRITER_NAMES_FACTS_BYTES);
}

static void strings_write(struct fb_writer *w)
{
    struct fb_writer_names *names = &w->names;
    uint8_t bytes[FB_WIRE_VARINT_MAX];
    struct fb_wire_out prefix = {.data = bytes, .cap = sizeof bytes};

    if (names->strings.count == 0)
        return;
    fb_wire_put_varint(&prefix, names->first_string);
    if (!fb_sink_write_list(&w->sink, &names->strings, FB_CHUNK_STRINGS, &prefix)) {
        names->lost = true;
        fb_chunk_begin(&names->strings, names->strings.memory, names->strings.size);
    }
}

uint32_t fb_writer_string(struct fb_writer *w, const char *text, size_t n)
{
    struct fb_writer_names *names = &w->names;

    if (names->strings.body.cap - names->strings.body.len < n + FB_WIRE_VARINT_MAX)
        strings_write(w);
    if (names->strings.count == 0)
        names->first_string = names->next_string;
    fb_wire_put_blob(&names->strings.body, text, n);
    names->strings.count++;
    return names->next_string++;
}

void fb_writer_facts(struct fb_writer *w, const struct fb_frame_facts *facts)
{
    struct fb_wire_out *out = &w->names.facts.body;

    if (facts->tier == FB_FRAME_TIER_UNKNOWN && facts->signature == 0 && facts->file == 0 &&
        facts->line == 0)
        return;
    fb_wire_put_varint(out, facts->frame);
    fb_wire_put_u8(out, (uint8_t)facts->tier);
    fb_wire_put_varint(out, facts->signature);
    fb_wire_put_varint(out, facts->file);
    fb_wire_put_varint(out, facts->line);
    w->names.facts.count++;
}

bool fb_writer_names_full(const struct fb_writer *w)
{
    return w->names.facts.body.cap - w->names.facts.body.len <
           FB_SAMPLE_DEPTH_MAX * FACTS_BYTES_MAX;
}

bool fb_writer_names_write(struct fb_writer *w)
{
    struct fb_chunk *facts = &w->names.facts;

    strings_write(w);
    if (w->names.lost)
        return false;
    return facts->count == 0 || fb_sink_write_list(&w->sink, facts, FB_CHUNK_FRAME_FACTS, NULL);
}

void fb_writer_names_forget(struct fb_writer *w)
{
    struct fb_writer_names *names = &w->names;

    names->lost = false;
    fb_chunk_begin(&names->strings, names->strings.memory, names->strings.size);
    fb_chunk_begin(&names->facts, names->facts.memory, names->facts.size);
}
