/* joblog.h - the job log of a load run: #NH-STEP headers with generator documents, amid noise. */
#ifndef FB_STEPS_JOBLOG_H
#define FB_STEPS_JOBLOG_H

#include "steps/list.h"

bool fb_joblog_sniff(const char *text, size_t len);
enum fb_status fb_joblog_read(const char *text, size_t len, struct fb_steps *steps,
                              struct fb_err *err);

#endif
