/* tsv.h - steps as a table: a header row of column names, a row a step, cells between tabs. */
#ifndef FB_STEPS_TSV_H
#define FB_STEPS_TSV_H

#include "steps/list.h"

bool fb_tsv_sniff(const char *text, size_t len);
enum fb_status fb_tsv_read(const char *text, size_t len, struct fb_steps *steps,
                           struct fb_err *err);

#endif
