/* Names are put aside, and demangled once each. */
#include "symbolize/banked.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbolize/module.h"
#include "symbolize/symbolize.h"

bool fb_symbolize_has_banked_names(const struct fb_profile *p)
{
    const char *names = fb_profile_manifest_get(p, "names");

    return names && strcmp(names, "symbol tables") == 0 &&
           !fb_profile_manifest_get(p, "symbolized");
}

size_t fb_banked_take(struct fb_profile *p, struct fb_banked *ret_banked)
{
    size_t named = 0;

    if (!fb_symbolize_has_banked_names(p))
        return 0;
    ret_banked->count = p->frames_count;
    ret_banked->name_of_frame = fb_alloc_array(p->frames_count, sizeof *ret_banked->name_of_frame);
    for (size_t i = 1; i < p->frames_count; i++) {
        struct fb_frame *f = &p->frames[i];

        if (f->module == FB_NO_MODULE || f->address == 0 || f->kind == FB_FRAME_INLINED)
            continue;
        ret_banked->name_of_frame[i] = f->name;
        named += f->name != 0;
        f->name = 0;
    }
    return named;
}

/* The id of the readable form of string `name`; remembered in `readable`, by id. */
static uint32_t readable_name(struct fb_profile *p, uint32_t name, uint32_t *readable)
{
    if (readable[name] == 0) {
        const char *raw = fb_profile_text(p, name);
        struct fb_buf out = {0};

        fb_symbols_demangle(raw, &out);
        readable[name] = fb_strings_put(&p->strings, out.data, out.len);
        fb_buf_done(&out);
    }
    return readable[name];
}

void fb_banked_give(struct fb_profile *p, const struct fb_banked *banked)
{
    uint32_t most = 0, *readable;

    for (size_t i = 0; i < banked->count; i++)
        most = banked->name_of_frame[i] > most ? banked->name_of_frame[i] : most;
    readable = fb_alloc_array((size_t)most + 1, sizeof *readable);
    for (size_t i = 1; i < banked->count; i++) {
        struct fb_frame *f = &p->frames[i];

        if (f->name == 0 && banked->name_of_frame[i] != 0)
            f->name = readable_name(p, banked->name_of_frame[i], readable);
    }
    free(readable);
}

void fb_banked_done(struct fb_banked *banked)
{
    free(banked->name_of_frame);
    *banked = (struct fb_banked){0};
}
