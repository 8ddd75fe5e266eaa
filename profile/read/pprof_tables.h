/* pprof_tables.h - everything of a pprof file but its samples: strings, functions, locations,
 * mappings.  Private to profile/read/pprof*.c.
 *
 *     r = fb_pprof_tables_read(&t, bytes, n, name, p, err);     one pass over the file
 *     r = fb_pprof_tables_resolve(&t, err);                     ids to places in the tables
 *     location = fb_pprof_location(&t, id);                     NULL where there is no such id
 *     fb_pprof_tables_done(&t);
 *
 * Ids are any numbers but 0, in any order; fields may come in any order; what is referred to and
 * missing is an error that names both sides. */
#ifndef FB_PROFILE_READ_PPROF_TABLES_H
#define FB_PROFILE_READ_PPROF_TABLES_H

#include "base/err.h"
#include "base/proto.h"
#include "profile/model.h"

/* Fields of profile.proto. */
enum {
    PPROF_SAMPLE_TYPE = 1,
    PPROF_SAMPLE = 2,
    PPROF_MAPPING = 3,
    PPROF_LOCATION = 4,
    PPROF_FUNCTION = 5,
    PPROF_STRING = 6,
    PPROF_DROP_FRAMES = 7,
    PPROF_KEEP_FRAMES = 8,
    PPROF_TIME = 9,
    PPROF_DURATION = 10,
    PPROF_PERIOD_TYPE = 11,
    PPROF_PERIOD = 12,
    PPROF_COMMENT = 13,
    PPROF_DEFAULT_TYPE = 14,
    PPROF_DOC_URL = 15,
};

struct fb_pprof_bytes {
    const uint8_t *data;
    size_t len;
};

struct fb_pprof_type { /* of strings */
    uint64_t type, unit;
};

/* Ids to indices: an array where they are dense, as they mostly are, else a hash. */
struct fb_pprof_ids {
    uint64_t *ids; /* by index */
    uint32_t *dense;
    size_t dense_count, count, room;
    struct fb_index sparse;
};

struct fb_pprof_mapping {
    uint64_t start, limit, offset, filename, build_id;
    uint32_t module; /* of the profile */
    bool is_kernel;
};

struct fb_pprof_function {
    uint64_t name, system_name, filename;
};

struct fb_pprof_location {
    uint64_t mapping, address;
    struct fb_pprof_bytes message;
    size_t frames_first; /* in frames[], outermost first; set by resolve */
    uint32_t frames_count;
};

struct fb_pprof_tables {
    const char *name; /* of the file */
    struct fb_profile *p;
    struct fb_pprof_bytes *strings;
    uint32_t *string_ids; /* in the profile; UINT32_MAX: not put there yet */
    size_t strings_count, strings_room;
    struct fb_pprof_ids mapping_ids, function_ids, location_ids;
    struct fb_pprof_mapping *mappings;
    size_t mappings_room;
    struct fb_pprof_function *functions;
    size_t functions_room;
    struct fb_pprof_location *locations;
    size_t locations_room;
    fb_frame_id *frames;
    size_t frames_count, frames_room;
    fb_frame_id *only_frame; /* by id of location, location_ids.dense_count of them: its frame, 0
                                where it has several or none */
    struct fb_frame *lines;  /* of one location, while it is resolved */
    size_t lines_room;
    struct fb_pprof_type *types;
    size_t types_count, types_room;
    struct fb_pprof_type period_type;
    uint64_t *comments; /* strings */
    size_t comments_count, comments_room;
    uint64_t drop_frames, keep_frames, default_type, doc_url; /* strings */
    int64_t period, time_ns, duration_ns;
    uint64_t samples; /* messages of that kind */
};

enum fb_status fb_pprof_tables_read(struct fb_pprof_tables *t, const void *bytes, size_t n,
                                    const char *name, struct fb_profile *p, struct fb_err *err);
enum fb_status fb_pprof_tables_resolve(struct fb_pprof_tables *t, struct fb_err *err);
void fb_pprof_tables_done(struct fb_pprof_tables *t);

/* The string in the profile; 0 ("") where the file has no such string, which resolve has checked
 * for all that the tables refer to. */
uint32_t fb_pprof_string(struct fb_pprof_tables *t, uint64_t index);

/* The index of an id; UINT32_MAX where it is not there. */
uint32_t fb_pprof_ids_find(const struct fb_pprof_ids *ids, uint64_t id);

static inline const struct fb_pprof_location *fb_pprof_location(const struct fb_pprof_tables *t,
                                                                uint64_t id)
{
    uint32_t at = id < t->location_ids.dense_count ? t->location_ids.dense[id]
                                                   : fb_pprof_ids_find(&t->location_ids, id);

    return at == UINT32_MAX ? NULL : &t->locations[at];
}

#endif
