/* writer_jit.c - see writer_jit.h. */
#include "sampler/writer_jit.h"

#include <string.h>

#include "sampler/clock.h"
#include "sampler/intern.h"
#include "sampler/say.h"
#include "sampler/writer.h"

enum { FILE_BYTES = 512 };

bool fb_writer_jit_is_script(const char *name, size_t n, enum fb_frame_tier *ret_tier)
{
    static const char *const kinds[] = {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};
    size_t at = 0;

    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0] && at == 0; i++) {
        size_t length = strlen(kinds[i]);

        if (n > length && memcmp(name, kinds[i], length) == 0)
            at = length;
    }
    *ret_tier = FB_FRAME_TIER_UNKNOWN;
    if (at == 0)
        return false;
    switch (name[at]) {
    case '~':
        *ret_tier = FB_FRAME_TIER_INTERPRETED;
        break;
    case '^': /* Sparkplug */
    case '+': /* Maglev    */
        *ret_tier = FB_FRAME_TIER_C1;
        break;
    case '*': /* TurboFan */
        *ret_tier = FB_FRAME_TIER_C2;
        break;
    default:
        break;
    }
    return true;
}

static void look(struct fb_writer *w)
{
    struct fb_writer_jit *j = &w->jit;

    if (j->looked)
        return;
    j->looked = true;
    if (fb_jit_files_look(&j->files, &j->codes, fb_clock_now()))
        w->epoch++; /* what was in no code may be in one now */
    if (j->files.refused && !j->said)
        fb_say(FB_SAY_ALWAYS, j->files.dump.path,
               "is no jitdump of version 1 in this machine's order of bytes, its code has no names",
               NULL, 0);
    j->said |= j->files.refused;
}

static void frame_put(struct fb_writer *w, const struct fb_jit_code *code, enum fb_frame_kind kind)
{
    fb_wire_put_u8(&w->frames.body, (uint8_t)kind);
    fb_wire_put_varint(&w->frames.body, 0); /* no module */
    fb_wire_put_varint(&w->frames.body, code->start);
    fb_wire_put_varint(&w->frames.body, code->string);
    w->frames.count++;
}

uint32_t fb_writer_jit_frame(struct fb_writer *w, uint64_t address, uint64_t time_ns,
                             bool *ret_several)
{
    struct fb_writer_jit *j = &w->jit;
    struct fb_frame_facts facts = {.line = 0};
    struct fb_frame_key key = {.kind = FB_FRAME_JIT};
    char name[FB_WRITER_JIT_NAME];
    char file[FILE_BYTES];
    struct fb_jit_code *code;
    bool is_new;
    size_t n;

    if (!w->quiet)
        look(w);
    code = fb_jit_codes_find(&j->codes, address, time_ns, ret_several);
    n = code != NULL ? fb_jit_files_name(&j->files, code, name, sizeof name) : 0;
    if (n == 0 || w->names.lost)
        return 0;
    if (fb_writer_jit_is_script(name, n, &facts.tier))
        key.kind = FB_FRAME_JS;
    if (!fb_jit_files_line(&j->files, code, address, file, sizeof file, &facts.line))
        facts.line = 0;
    /* Unlike any of a module, whose ids are below. */
    key.address = code->start ^ (uint64_t)facts.line << 40;
    key.module = UINT32_C(1) << 31 | code->order;
    facts.frame = fb_intern_frame(&w->intern, &key, &is_new);
    if (facts.frame == 0 || !is_new)
        return facts.frame;
    if (code->string == 0)
        code->string = fb_writer_string(w, name, n);
    if (facts.line != 0)
        facts.file = fb_writer_string(w, file, strlen(file));
    fb_writer_facts(w, &facts);
    frame_put(w, code, (enum fb_frame_kind)key.kind);
    return facts.frame;
}

void fb_writer_jit_rest(struct fb_writer *w)
{
    fb_jit_files_rest(&w->jit.files);
    w->jit.looked = false;
}

void fb_writer_jit_forget(struct fb_writer *w)
{
    struct fb_jit_code *codes = w->jit.codes.pages.data;

    for (uint32_t i = 0; i < w->jit.codes.count; i++)
        codes[i].string = 0;
}
