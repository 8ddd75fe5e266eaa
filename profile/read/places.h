/* places.h - what the addresses of the old formats of gperftools and of Java's profilers are: the
 * memory map or the list of names at the end of the file.
 *
 *     struct fb_places places = {.p = profile};
 *     fb_places_read(&places, text, n);         lines of both kinds, others are passed over
 *     frame = fb_places_frame(&places, address);
 *     fb_places_done(&places);
 *
 * Lines: "00400000-00fcb000 r-xp 00000000 00:00 123 /bin/x" (executable ones count),
 * "00400000-00fcb000: /bin/x", and " 0x0000006 com.example.f (Source.java:6)".  Private to
 * profile/read/. */
#ifndef FB_PROFILE_READ_PLACES_H
#define FB_PROFILE_READ_PLACES_H

#include "profile/model.h"

struct fb_place_map {
    uint64_t start, end;
    uint32_t module;
};

struct fb_place_name {
    uint64_t address;
    struct fb_frame frame;
};

struct fb_places {
    struct fb_profile *p;
    struct fb_place_map *maps; /* sorted by start once frames are asked for */
    size_t maps_count, maps_room;
    struct fb_place_name *names;
    size_t names_count, names_room;
    struct fb_index name_index;
    bool sorted;
};

void fb_places_read(struct fb_places *places, const char *text, size_t n);
fb_frame_id fb_places_frame(struct fb_places *places, uint64_t address);
void fb_places_done(struct fb_places *places);

#endif
