#include "profile/formats.h"

#include <string.h>

#include "profile/read/cpuprofile.h"
#include "profile/read/dtrace.h"
#include "profile/read/firefox.h"
#include "profile/read/flamebearer.h"
#include "profile/read/folded.h"
#include "profile/read/gperftools.h"
#include "profile/read/jfr.h"
#include "profile/read/jfrconv.h"
#include "profile/read/json_kind.h"
#include "profile/read/legacy_text.h"
#include "profile/read/perf_data.h"
#include "profile/read/perf_file.h"
#include "profile/read/perf_script.h"
#include "profile/read/pprof.h"
#include "profile/read/speedscope.h"
#include "profile/read/timed.h"
#include "profile/read/trace_event.h"
#include "profile/write/cpuprofile.h"
#include "profile/write/csv.h"
#include "profile/write/firefox.h"
#include "profile/write/flamebearer.h"
#include "profile/write/folded.h"
#include "profile/write/pprof.h"
#include "profile/write/speedscope.h"
#include "profile/write/timed.h"

enum { MOST_HEAD = 64 << 20 };

static enum fb_status read_bank(struct fb_source *in, const struct fb_read_options *options,
                                struct fb_profile **ret_p, struct fb_read_report *report,
                                struct fb_err *err)
{
    const char *bytes;
    size_t n;
    enum fb_status r = fb_source_all(in, &bytes, &n, err);

    (void)options; /* a bank has one type, and its weight is in ticks */
    if (r != FB_OK)
        return r;
    return fb_bank_decode(bytes, n, fb_source_name(in), ret_p, &report->damage, err);
}

static void write_bank(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out)
{
    (void)canonical; /* a bank keeps raw names */
    fb_bank_encode(p, out);
}

const struct fb_reader fb_readers[] = {
    {"fbank", "a bank written by the sampler or by 'convert'", fb_bank_sniff, read_bank},
    {"speedscope", "speedscope's JSON", fb_speedscope_sniff, fb_speedscope_read},
    {"cpuprofile", "a CPU profile of Chrome or Node.js", fb_cpuprofile_sniff, fb_cpuprofile_read},
    {"trace-event", "Chrome's trace events: CPU profiles, or spans", fb_trace_event_sniff,
     fb_trace_event_read},
    {"firefox", "a profile of the Firefox Profiler", fb_firefox_sniff, fb_firefox_read},
    {"jfrconv", "a flame graph of async-profiler, HTML", fb_jfrconv_sniff, fb_jfrconv_read},
    {"flamebearer", "Pyroscope's JSON, single or double", fb_flamebearer_sniff,
     fb_flamebearer_read},
    {"jfr", "a recording of JDK Flight Recorder or async-profiler", fb_jfr_sniff, fb_jfr_read},
    {"gperftools", "a CPU profile of gperftools, or Java's of that shape", fb_gperftools_sniff,
     fb_gperftools_read},
    {"gperftools-text", "heap, thread and contention profiles as text: gperftools, old Go, Java",
     fb_legacy_text_sniff, fb_legacy_text_read},
    {"pprof", "profile.proto of pprof", fb_pprof_sniff, fb_pprof_read},
    {"perf-data", "perf.data as perf record writes it", fb_perf_file_sniff, fb_perf_data_read},
    {"perf-script", "the text of 'perf script'", fb_perf_script_sniff, fb_perf_script_read},
    {"timed", "folded samples: 'epoch_ms TAB thread TAB root;leaf' a line", fb_timed_sniff,
     fb_timed_read},
    {"dtrace", "aggregates of stacks, as DTrace prints them", fb_dtrace_sniff, fb_dtrace_read},
    {"folded", "folded stacks, 'root;frame;leaf 12' a line", fb_folded_sniff, fb_folded_read},
    {NULL, NULL, NULL, NULL},
};

const struct fb_writer fb_writers[] = {
    {"fbank", ".fbank", "a packed bank", FB_HOLDS_ALL, write_bank},
    {"folded", ".folded", "folded stacks, canonical names",
     FB_HOLDS_KINDS | FB_HOLDS_INLINED | FB_HOLDS_KERNEL | FB_HOLDS_TIERS, fb_folded_write_profile},
    {"timed", ".timed", "folded samples with their times and threads",
     FB_HOLDS_TIMES | FB_HOLDS_THREADS | FB_HOLDS_KINDS | FB_HOLDS_INLINED | FB_HOLDS_KERNEL |
         FB_HOLDS_TIERS,
     fb_timed_write},
    {"pprof", ".pb.gz .pprof", "gzipped profile.proto of pprof",
     FB_HOLDS_ALL & ~(unsigned)(FB_HOLDS_TIMES | FB_HOLDS_KINDS | FB_HOLDS_TIERS |
                                FB_HOLDS_COUNTERS | FB_HOLDS_MARKS | FB_HOLDS_BYTES),
     fb_pprof_write},
    {"speedscope", ".speedscope.json", "speedscope's JSON, a profile a thread",
     FB_HOLDS_THREADS | FB_HOLDS_MODULES | FB_HOLDS_LINES | FB_HOLDS_KINDS | FB_HOLDS_TIERS |
         FB_HOLDS_INLINED | FB_HOLDS_KERNEL | FB_HOLDS_UNIT | FB_HOLDS_NAMES,
     fb_speedscope_write},
    {"firefox", ".firefox.json", "a profile for the Firefox Profiler",
     FB_HOLDS_TIMES | FB_HOLDS_THREADS | FB_HOLDS_MODULES | FB_HOLDS_LINES | FB_HOLDS_KINDS |
         FB_HOLDS_TIERS | FB_HOLDS_INLINED | FB_HOLDS_KERNEL | FB_HOLDS_UNIT | FB_HOLDS_INTERVAL |
         FB_HOLDS_NAMES,
     fb_firefox_write},
    {"cpuprofile", ".cpuprofile", "a CPU profile for Chrome's developer tools",
     FB_HOLDS_LINES | FB_HOLDS_UNIT | FB_HOLDS_NAMES, fb_cpuprofile_write},
    {"flamebearer", ".flamebearer.json", "Pyroscope's JSON",
     FB_HOLDS_UNIT | FB_HOLDS_INTERVAL | FB_HOLDS_NAMES, fb_flamebearer_write},
    {"csv", ".csv", "a table: time, thread, weight, leaf and stack of each sample",
     FB_HOLDS_TIMES | FB_HOLDS_THREADS | FB_HOLDS_UNIT | FB_HOLDS_BYTES, fb_csv_profile_write},
    {NULL, NULL, NULL, 0, NULL},
};

const struct fb_pair_writer fb_pair_writers[] = {
    {"flamebearer", fb_flamebearer_write_pair},
    {NULL, NULL},
};

const struct fb_layer_writer fb_layer_writers[] = {
    {"firefox", fb_firefox_write_layers},
    {NULL, NULL},
};

bool fb_profile_is_marked(const void *head, size_t n)
{
    return fb_bank_sniff(head, n) || fb_jfr_sniff(head, n) || fb_pprof_sniff(head, n) ||
           fb_gperftools_sniff(head, n) || fb_legacy_text_sniff(head, n) ||
           fb_jfrconv_sniff(head, n) || fb_json_profile_kind(head, n) != FB_JSON_PROFILE_NONE;
}

static const struct fb_reader *reader_of(const char *format, const char *head, size_t n)
{
    for (const struct fb_reader *reader = fb_readers; reader->name; reader++) {
        if (format ? strcmp(reader->name, format) == 0 : reader->sniff(head, n))
            return reader;
    }
    return NULL;
}

enum fb_status fb_reader_find(struct fb_source *in, const char *format,
                              const struct fb_reader **ret_reader, struct fb_err *err)
{
    const char *head = "";
    size_t n = 0, want = FB_SNIFF_BYTES;
    enum fb_status r = fb_source_head(in, want, &head, &n, err);

    *ret_reader = NULL;
    if (r == FB_OK)
        *ret_reader = reader_of(format, head, n);
    /* Of JSON, the keys that tell may stand behind large ones (metadata, markers). */
    while (r == FB_OK && !*ret_reader && !format && n == want && want < MOST_HEAD &&
           fb_json_looks_so(head, n)) {
        want *= 8;
        r = fb_source_head(in, want, &head, &n, err);
        if (r == FB_OK && fb_json_profile_kind(head, n) != FB_JSON_PROFILE_NONE)
            *ret_reader = reader_of(NULL, head, n);
    }
    if (r != FB_OK || *ret_reader)
        return r;
    if (format)
        return fb_fail(
            err, FB_EUSAGE,
            "'%s' is not a format that can be read ('flamebank help formats' lists them)", format);
    if (n == 0)
        return fb_fail(err, FB_EFORMAT, "%s: is empty, a profile was expected", fb_source_name(in));
    return fb_fail(err, FB_EFORMAT,
                   "%s: is of no known profile format ('flamebank help formats' lists them)",
                   fb_source_name(in));
}

/* Samples of these can be counted, or weighed by a period or the time to the next. */
static bool has_weights(const char *reader)
{
    return strncmp(reader, "perf", 4) == 0 || strcmp(reader, "cpuprofile") == 0 ||
           strcmp(reader, "trace-event") == 0 || strcmp(reader, "firefox") == 0;
}

/* Every sum of weights that is made of a profile fits into 63 bits. */
static enum fb_status weights_check(const char *name, struct fb_profile **p, struct fb_err *err)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < (*p)->samples.count; i++) {
        if (__builtin_add_overflow(sum, (*p)->samples.weight[i], &sum) || sum > INT64_MAX) {
            fb_profile_free(*p);
            *p = NULL;
            return fb_fail(err, FB_ELIMIT, "%s: the weights add up to more than 9e18", name);
        }
    }
    return FB_OK;
}

enum fb_status fb_profile_read(struct fb_source *in, const char *format,
                               const struct fb_read_options *options, struct fb_profile **ret_p,
                               struct fb_read_report *ret_report, struct fb_err *err)
{
    const struct fb_reader *reader;
    enum fb_status r = fb_reader_find(in, format, &reader, err);

    *ret_report = (struct fb_read_report){0};
    if (r == FB_OK && options->weight != FB_WEIGHT_AS_FORMAT && !has_weights(reader->name))
        return fb_fail(err, FB_EUSAGE,
                       "%s: '--weight' is for samples that have a period or a time to the next "
                       "(perf, Chrome, Firefox), and this is %s",
                       fb_source_name(in), reader->name);
    if (r == FB_OK)
        r = reader->read(in, options, ret_p, ret_report, err);
    return r == FB_OK ? weights_check(fb_source_name(in), ret_p, err) : r;
}

enum fb_status fb_profile_decode(const void *bytes, size_t n, const char *name, const char *format,
                                 struct fb_profile **ret_p, struct fb_read_report *ret_report,
                                 struct fb_err *err)
{
    struct fb_read_options options = {0};
    struct fb_source *in = fb_source_of_bytes(bytes, n, name);
    enum fb_status r = fb_profile_read(in, format, &options, ret_p, ret_report, err);

    fb_source_close(in);
    return r;
}

/* Whether the path ends with one of the suffixes. */
static bool has_suffix(const char *path, const char *suffixes)
{
    size_t n = strlen(path);

    while (*suffixes) {
        size_t m = strcspn(suffixes, " ");

        if (n >= m && memcmp(path + n - m, suffixes, m) == 0)
            return true;
        suffixes += m + (suffixes[m] == ' ');
    }
    return false;
}

enum fb_status fb_writer_find(const char *name, const char *path, const struct fb_writer **ret_w,
                              struct fb_err *err)
{
    for (const struct fb_writer *w = fb_writers; w->name; w++) {
        if (name ? strcmp(w->name, name) == 0 : has_suffix(path, w->suffix)) {
            *ret_w = w;
            return FB_OK;
        }
    }
    if (name)
        return fb_fail(err, FB_EUSAGE, "'%s' is not a format that can be written", name);
    return fb_fail(err, FB_EUSAGE,
                   "%s: its ending names no format that can be written; --to was expected "
                   "('flamebank help formats' lists them)",
                   path);
}
