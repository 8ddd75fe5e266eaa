/* vdso.h - the vDSO as a file: a copy of the one that is mapped in this process.
 *
 * There is no file of it.  The kernel of an arm that was recorded here maps the same bytes into
 * us; the build ID proves it. */
#ifndef FB_SYMBOLIZE_VDSO_H
#define FB_SYMBOLIZE_VDSO_H

#include "base/err.h"
#include "symbolize/elf_file.h"

/* *ret_file is yours.  Fails where build_id is "" or another one than ours. */
enum fb_status fb_vdso_open(const char *build_id, struct fb_elf_file **ret_file,
                            struct fb_err *err);

#endif
