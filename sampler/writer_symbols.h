/* writer_symbols.h - names of addresses, when their tables are read (kernel_names.h,
 * module_names.h): STRINGS, then SYMBOLS.  Context: the helper thread alone. */
#ifndef FB_SAMPLER_WRITER_SYMBOLS_H
#define FB_SAMPLER_WRITER_SYMBOLS_H

#include <stdbool.h>

struct fb_writer;

/* At each flush, behind the samples; last: the process ends. */
void fb_writer_symbols_look(struct fb_writer *w, bool last);

#endif
