/* cfi_read.h - what cfi.c and cfi_run.c share: pointers, numbers and the current CIE.
 *
 * All read from a wire cursor over the section's bytes (cursor position ==
 * section offset) and set its `bad` on a violation. */
#ifndef FB_SAMPLER_CFI_READ_H
#define FB_SAMPLER_CFI_READ_H

#include "base/wire.h"
#include "sampler/cfi.h"

/* A DW_EH_PE encoded pointer as a runtime address; absolute and pc-relative ones only. */
uint64_t fb_cfi_read_pointer(const struct fb_cfi *cfi, struct fb_wire_in *in, uint8_t encoding);

/* LEB128 as DWARF has it: padding is allowed, bits above 64 are dropped. */
uint64_t fb_cfi_read_uleb(struct fb_wire_in *in);
int64_t fb_cfi_read_sleb(struct fb_wire_in *in);

/* Makes cfi->cie the CIE at offset `at`; false if it is not a usable one. */
bool fb_cfi_cie_get(struct fb_cfi *cfi, size_t at);

#endif
