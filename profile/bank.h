/* bank.h - the bank file (*.fbank): reading, checking, writing, and adding a mark.
 *
 * docs/bank-format.md and profile/raw_format.h specify the bytes.  Reading accepts a torn tail and
 * damage in the middle: it resyncs, and says in *ret_damage what was lost. */
#ifndef FB_PROFILE_BANK_H
#define FB_PROFILE_BANK_H

#include "base/buf.h"
#include "base/err.h"
#include "profile/model.h"

struct fb_bank_damage {
    bool torn_tail;             /* the file ends inside a chunk (killed while writing)       */
    uint64_t torn_bytes;        /* bytes of that unfinished chunk                            */
    uint64_t skipped_bytes;     /* bytes in the middle that are no valid chunk               */
    uint64_t missing_chunks;    /* gaps in the sequence numbers                              */
    uint64_t bad_payloads;      /* chunks with a right checksum whose payload breaks a rule  */
    uint64_t unknown_chunks;    /* of a type that this version does not know: not damage     */
    uint64_t orphan_samples;    /* samples whose stack or thread definition was lost; kept
                                   under the frame [lost definition]                         */
    uint64_t unwritten_samples; /* END says that more samples were written than were read   */
    char first[200];            /* a sentence about the first damage, "" if none             */
};

/* Whether the first bytes are those of a bank. */
bool fb_bank_sniff(const void *head, size_t n);

/* Reads a whole bank.  Fails on what is no bank, on a newer major version, and where not one
 * chunk is whole; everything else is *ret_damage (zeroed first). */
enum fb_status fb_bank_decode(const void *bytes, size_t n, const char *name,
                              struct fb_profile **ret_p, struct fb_bank_damage *ret_damage,
                              struct fb_err *err);
enum fb_status fb_bank_read(const char *path, struct fb_profile **ret_p,
                            struct fb_bank_damage *ret_damage, struct fb_err *err);

/* Whether anything but a torn tail is wrong. */
bool fb_bank_is_damaged(const struct fb_bank_damage *damage);

/* Appends a packed bank with the same run and writer ids to out: everything that the model holds,
 * samples in time order, times at 1 ms grain.  The same profile gives the same bytes. */
void fb_bank_encode(const struct fb_profile *p, struct fb_buf *out);
enum fb_status fb_bank_write(const struct fb_profile *p, const char *path, struct fb_err *err);

/* Appends one chunk with the mark to an existing bank, under its lock; the arm may be writing.
 * FB_EFORMAT where the arm has ended in order. */
enum fb_status fb_bank_mark(const char *path, const char *name, int64_t wall_ns, double offered,
                            uint8_t flags, struct fb_err *err);

/* Appends labels, "K=V" each, to the manifest in the same way; the arm may have ended.  A label
 * that is there already gets the new value. */
enum fb_status fb_bank_label(const char *path, const char *const *labels, size_t count,
                             struct fb_err *err);

/* Asks the arm to pause (FB_EVENT_ASK_PAUSE) or to resume, and waits until it says in the bank that
 * it did: within a second where it is not held up.  FB_EIO: no answer. */
enum fb_status fb_bank_ask(const char *path, enum fb_event_kind ask, int64_t wall_ns,
                           unsigned wait_ms, struct fb_err *err);

#endif
