/* cfi.h - decodes the call frame information of one .eh_frame or .debug_frame section.
 *
 *     struct fb_cfi cfi = {.bytes = b, .size = n, .address = a, .machine = FB_MACHINE_HOST};
 *     while (fb_cfi_next(&cfi, &fde))
 *         fb_cfi_run(&cfi, &fde, on_row, ctx);
 *
 * Context: normal.  Reads `bytes` only, allocates nothing.  The input is hostile
 * until proven otherwise: every record is bounded by the section, every program
 * by its record; a record that cannot be read is passed over and counted, and a
 * program that cannot be followed gives rules of kind FB_CFA_NONE from there
 * on.  Initial instructions are limited to FB_CFI_CIE_PROGRAM_MAX bytes, so that
 * the work is at most that times the number of records.
 *
 * What cannot be expressed as a struct fb_rule is FB_CFA_NONE: location
 * expressions other than the PLT's and one or none dereferences of sp or fp,
 * return addresses in other registers. */
#ifndef FB_SAMPLER_CFI_H
#define FB_SAMPLER_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/signal/rule.h"

enum { FB_CFI_CIE_PROGRAM_MAX = 256 };

enum fb_machine {
    FB_MACHINE_X86_64,
    FB_MACHINE_AARCH64,
#if defined(__aarch64__)
    FB_MACHINE_HOST = FB_MACHINE_AARCH64,
#else
    FB_MACHINE_HOST = FB_MACHINE_X86_64,
#endif
};

/* A CIE, decoded: what its FDEs share. */
struct fb_cfi_cie {
    size_t at;      /* offset of the record                       */
    size_t program; /* initial instructions: [program, end)       */
    size_t end;
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register;
    uint8_t pointer_encoding;
    bool has_augmentation;
    bool signal_frame;
    bool good;
};

struct fb_cfi {
    const uint8_t *bytes;
    size_t size;
    uint64_t address; /* runtime address of bytes[0] */
    enum fb_machine machine;
    bool debug; /* a .debug_frame: its addresses want bias */
    uint64_t bias;

    /* Zero at first, then kept by fb_cfi_next(). */
    size_t pos;
    size_t bad_records;
    struct fb_cfi_cie cie; /* of the latest FDE; cie.end == 0: none yet */
};

struct fb_cfi_fde {
    uint64_t start; /* runtime addresses of the code, [start, end) */
    uint64_t end;
    size_t cie;     /* offset of its CIE, as fb_cfi_run() wants it */
    size_t program; /* instructions: [program, program_end)        */
    size_t program_end;
};

/* rule holds from runtime address pc on, up to the next row or fde->end. */
typedef void (*fb_cfi_row_fn)(void *ctx, uint64_t pc, const struct fb_rule *rule);

/* The next readable FDE; false at the end of the section.  The second says where its record is. */
bool fb_cfi_next(struct fb_cfi *cfi, struct fb_cfi_fde *ret_fde);
bool fb_cfi_next_at(struct fb_cfi *cfi, size_t *ret_at, struct fb_cfi_fde *ret_fde);

/* The FDE of the record at an offset of the section; pos stays. */
bool fb_cfi_at(struct fb_cfi *cfi, size_t at, struct fb_cfi_fde *ret_fde);

/* Where the CIE of the record at an offset is; false if it is not an FDE. */
bool fb_cfi_cie_of(const struct fb_cfi *cfi, size_t at, size_t *ret_cie);

/* Calls on_row for every change, in ascending pc order, the first at fde->start. */
void fb_cfi_run(struct fb_cfi *cfi, const struct fb_cfi_fde *fde, fb_cfi_row_fn on_row, void *ctx);

#endif
