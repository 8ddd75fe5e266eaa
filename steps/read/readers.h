/* readers.h - one file a format, one reader a file; the table of them is in steps.c. */
#ifndef FB_STEPS_READ_READERS_H
#define FB_STEPS_READ_READERS_H

#include "steps/list.h"

extern const struct fb_steps_reader fb_steps_reader_joblog, fb_steps_reader_nighthawk,
    fb_steps_reader_fortio, fb_steps_reader_ghz, fb_steps_reader_vegeta, fb_steps_reader_autocannon,
    fb_steps_reader_oha, fb_steps_reader_k6_summary, fb_steps_reader_k6_csv, fb_steps_reader_h2load,
    fb_steps_reader_h2load_log, fb_steps_reader_wrk, fb_steps_reader_hey, fb_steps_reader_hey_csv,
    fb_steps_reader_jtl, fb_steps_reader_jtl_xml, fb_steps_reader_tsv, fb_steps_reader_json;

#endif
