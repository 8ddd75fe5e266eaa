/* What a profile has that a format may not be able to hold. */
#include <string.h>

#include "base/utf8.h"
#include "profile/formats.h"

static const struct {
    unsigned bit;
    const char *text;
} words[] = {
    {FB_HOLDS_TIMES, "times"},
    {FB_HOLDS_THREADS, "threads"},
    {FB_HOLDS_LABELS, "labels"},
    {FB_HOLDS_MODULES, "modules"},
    {FB_HOLDS_ADDRESSES, "addresses"},
    {FB_HOLDS_LINES, "source lines"},
    {FB_HOLDS_KINDS, "kinds of frames"},
    {FB_HOLDS_INLINED, "which frames are inlined"},
    {FB_HOLDS_KERNEL, "which frames are the kernel's"},
    {FB_HOLDS_TIERS, "tiers of compilation"},
    {FB_HOLDS_UNIT, "the unit"},
    {FB_HOLDS_INTERVAL, "the sampling interval"},
    {FB_HOLDS_COUNTERS, "counters"},
    {FB_HOLDS_MARKS, "marks"},
    {FB_HOLDS_MANIFEST, "the manifest"},
    {FB_HOLDS_NAMES, "';' and control bytes in names"},
    {FB_HOLDS_BYTES, "names that are no UTF-8"},
};

void fb_holds_text(unsigned holds, struct fb_buf *out)
{
    const char *between = "";

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!(holds & words[i].bit))
            continue;
        fb_buf_puts(out, between);
        fb_buf_puts(out, words[i].text);
        between = ", ";
    }
}

static unsigned name_holds(const struct fb_string *s)
{
    unsigned holds = fb_utf8_valid(s->text, s->len) ? 0 : FB_HOLDS_BYTES;

    for (size_t i = 0; i < s->len; i++) {
        unsigned char c = (unsigned char)s->text[i];

        if (c < 0x20 || c == 0x7f || c == ';')
            return holds | FB_HOLDS_NAMES;
    }
    return holds;
}

static unsigned frames_hold(const struct fb_profile *p)
{
    unsigned holds = 0;

    for (size_t i = 1; i < p->frames_count; i++) {
        const struct fb_frame *f = &p->frames[i];

        if (f->module != FB_NO_MODULE)
            holds |= FB_HOLDS_MODULES;
        if (f->address != 0)
            holds |= FB_HOLDS_ADDRESSES;
        if (f->file != 0 || f->line != 0)
            holds |= FB_HOLDS_LINES;
        if (f->kind == FB_FRAME_INLINED)
            holds |= FB_HOLDS_INLINED;
        else if (f->kind == FB_FRAME_KERNEL)
            holds |= FB_HOLDS_KERNEL;
        else if (f->kind != FB_FRAME_NATIVE && f->kind != FB_FRAME_MARK)
            holds |= FB_HOLDS_KINDS;
        if (f->tier != FB_TIER_UNKNOWN)
            holds |= FB_HOLDS_TIERS;
        holds |= name_holds(&p->strings.items[f->name]);
    }
    return holds;
}

unsigned fb_profile_holds(const struct fb_profile *p)
{
    unsigned holds = frames_hold(p);

    if (p->has_times)
        holds |= FB_HOLDS_TIMES;
    if (p->threads_count > 1)
        holds |= FB_HOLDS_THREADS;
    if (p->label_sets_count > 1)
        holds |= FB_HOLDS_LABELS;
    if (strcmp(fb_profile_text(p, p->unit), "samples") != 0)
        holds |= FB_HOLDS_UNIT;
    if (p->interval_ns != 0)
        holds |= FB_HOLDS_INTERVAL;
    if (p->counters.rows > 0)
        holds |= FB_HOLDS_COUNTERS;
    if (p->marks_count > 0 || p->events_count > 0)
        holds |= FB_HOLDS_MARKS;
    if (p->manifest_count > 0)
        holds |= FB_HOLDS_MANIFEST;
    return holds;
}

void fb_report_loss(struct fb_read_report *report, const char *what, uint64_t count)
{
    size_t i = 0;

    if (count == 0)
        return;
    while (i < report->losses_count && strcmp(report->losses[i].what, what) != 0)
        i++;
    if (i == report->losses_count) {
        if (i == FB_REPORT_LOSSES_MOST)
            i--; /* more causes than any reader has: kept in the last, so that the sum is right */
        else
            report->losses[report->losses_count++].what = what;
    }
    report->losses[i].count += count;
}
