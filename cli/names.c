#include "cli/names.h"

#include "cli/say.h"

void fb_names_find(struct fb_profile *p, const char *path,
                   const struct fb_symbolizer_options *options, bool say_notes)
{
    struct fb_symbolizer *s = fb_symbolizer_new(options);
    struct fb_symbolize_report report;

    fb_symbolize_profile(s, p, &report);
    fb_profile_manifest_set(p, "symbolized", FB_VERSION);
    fb_say("%s: %zu of %zu addresses named now, %zu before; %.1f %% of the weight has a nameless "
           "leaf",
           path, report.named, report.frames, report.already_named,
           report.samples > 0 ? 100.0 * report.unknown_samples / report.samples : 0.0);
    for (size_t i = 0; say_notes && i < report.notes_count; i++)
        fb_say("%s: %s", path, report.notes[i]);
    fb_symbolize_report_done(&report);
    fb_symbolizer_free(s);
}
