/* firefox_file.h - the JSON of a Firefox profile as tables, without a meaning yet.  Private to
 * profile/.
 *
 * Keys come in any order, so everything is kept: strings once, in the profile's own. */
#ifndef FB_PROFILE_READ_FIREFOX_FILE_H
#define FB_PROFILE_READ_FIREFOX_FILE_H

#include "profile/model.h"
#include "profile/read/columns.h"

enum { FB_STACK_PREFIX, FB_STACK_FRAME, FB_STACK_OFFSET };
enum {
    FB_FRAME_FUNC,
    FB_FRAME_LOCATION,
    FB_FRAME_LINE,
    FB_FRAME_ADDRESS,
    FB_FRAME_SYMBOL,
    FB_FRAME_DEPTH,
    FB_FRAME_LIB,
    FB_FRAME_CATEGORY,
    FB_FRAME_SUBCATEGORY
};
enum { FB_FUNC_NAME, FB_FUNC_IS_JS, FB_FUNC_RESOURCE, FB_FUNC_FILE, FB_FUNC_SOURCE, FB_FUNC_LINE };
enum { FB_SAMPLE_STACK, FB_SAMPLE_TIME, FB_SAMPLE_DELTA, FB_SAMPLE_WEIGHT };

struct fb_firefox_strings {
    uint32_t *items; /* strings of the profile */
    size_t count, room;
    bool is_set;
};

/* Tables that a thread has itself, or that all share. */
struct fb_firefox_tables {
    struct fb_columns stacks, frames, funcs;
    struct fb_columns resources; /* 0: lib     */
    struct fb_columns symbols;   /* 0: libIndex */
    struct fb_columns sources;   /* 0: filename */
    struct fb_firefox_strings strings;
};

struct fb_firefox_lib {
    uint32_t path, build_id; /* strings */
    uint64_t start, end;     /* addresses while it ran; 0, 0 unknown */
    uint32_t module;         /* of the profile */
};

struct fb_firefox_libs {
    struct fb_firefox_lib *items;
    size_t count, room;
};

struct fb_firefox_thread {
    uint32_t name, tid, pid;
    char weight_type[16];
    struct fb_columns samples;
    struct fb_firefox_tables tables;
    struct fb_firefox_libs libs;
    uint32_t part; /* that it is of */
};

struct fb_firefox_category {
    uint32_t name;
    struct fb_firefox_strings subcategories;
};

/* A process: the file itself, or a profile nested in it. */
struct fb_firefox_part {
    double start_ms, interval_ms;
    uint32_t product;
    bool no_interval; /* interval_ms is there for the page alone */
    struct fb_firefox_libs libs;
    struct fb_firefox_tables shared;
    struct fb_firefox_category *categories;
    size_t categories_count, categories_room;
};

struct fb_firefox_file {
    struct fb_profile *p;
    struct fb_firefox_part *parts;
    size_t parts_count, parts_room;
    struct fb_firefox_thread *threads;
    size_t threads_count, threads_room;
    struct fb_index modules; /* by path */
    bool is_gecko;           /* some table has a schema: times are of the process */
};

void fb_firefox_file_init(struct fb_firefox_file *f, struct fb_profile *p);
void fb_firefox_file_done(struct fb_firefox_file *f);

/* The whole text; in says what is wrong. */
void fb_firefox_file_take(struct fb_firefox_file *f, struct fb_json_in *in);

#endif
