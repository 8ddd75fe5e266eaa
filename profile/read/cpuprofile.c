#include "profile/read/cpuprofile.h"

#include "profile/read/json_kind.h"
#include "profile/read/v8.h"

bool fb_cpuprofile_sniff(const void *head, size_t n)
{
    return fb_json_profile_kind(head, n) == FB_JSON_PROFILE_CPUPROFILE;
}

enum fb_status fb_cpuprofile_read(struct fb_source *source, const struct fb_read_options *options,
                                  struct fb_profile **ret_p, struct fb_read_report *report,
                                  struct fb_err *err)
{
    const char *name = fb_source_name(source);
    struct fb_profile *p = fb_profile_new();
    struct fb_json_in in;
    struct fb_v8 v;
    enum fb_status r;

    fb_v8_init(&v, p);
    fb_json_in_start_source(&in, source);
    fb_v8_take(&v, &in);
    fb_json_in_end(&in);
    r = fb_json_in_failed(&in) ? fb_json_in_fail(&in, name, err)
                               : fb_v8_finish(&v, name, FB_NO_THREAD, options, report, err);
    fb_json_in_done(&in);
    fb_v8_done(&v);
    if (r != FB_OK) {
        fb_profile_free(p);
        return r;
    }
    fb_profile_span_update(p);
    *ret_p = p;
    return FB_OK;
}
