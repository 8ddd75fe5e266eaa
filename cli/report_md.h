/* report_md.h - the report as Markdown for a repository, with its pictures beside it. */
#ifndef FB_CLI_REPORT_MD_H
#define FB_CLI_REPORT_MD_H

#include "base/err.h"
#include "render/render.h"

/* Writes `path` and, beside it, PATH.control.svg, PATH.variant.svg and PATH.diff.svg (of one arm
 * PATH.flame.svg), PATH without ".md". */
enum fb_status fb_report_md_write(const struct fb_report_input *in, const char *path,
                                  struct fb_err *err);

#endif
