/* canonical.h - the rules that make one name of the many that a function has.
 *
 * An ordered table: a rule rewrites the text, and the table is applied again until no rule changes
 * anything, so the order matters only where a comment says so, and the result is a fixed point:
 * the canonical form of a canonical name is itself.  A new rule is a row here, three lines in
 * tests/unit/symbolize/test_canonical.c, and a row in docs/names.md. */
#ifndef FB_SYMBOLIZE_CANONICAL_H
#define FB_SYMBOLIZE_CANONICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "profile/profile.h"

struct fb_name_rule {
    const char *name; /* as docs/names.md calls it                                  */
    const char *what; /* one line: what is cut or replaced                          */
    unsigned kinds;   /* bit 1 << enum fb_frame_kind: the frames that it applies to */
    /* Rewrites the text (NUL-terminated, not empty); true if it changed. */
    bool (*apply)(struct fb_buf *text);
};

/* Borrowed table and its length. */
const struct fb_name_rule *fb_name_rules(size_t *ret_count);

/* fb_name_canonical(), and which rules fired: bit i is rule i. */
uint64_t fb_name_canonical_rules(const char *raw, size_t len, enum fb_frame_kind kind,
                                 struct fb_buf *out);

/* The rules, by file. */
bool fb_rule_inlined(struct fb_buf *text); /* canonical_suffix.c */
bool fb_rule_kernel_tag(struct fb_buf *text);
bool fb_rule_offset(struct fb_buf *text);
bool fb_rule_plt(struct fb_buf *text);
bool fb_rule_version(struct fb_buf *text);
bool fb_rule_clone(struct fb_buf *text);
bool fb_rule_unknown(struct fb_buf *text);
bool fb_rule_jfr_module(struct fb_buf *text); /* canonical_module.c */
bool fb_rule_demangle(struct fb_buf *text);   /* canonical_cxx.c */
bool fb_rule_cxx_anonymous(struct fb_buf *text);
bool fb_rule_cxx_abi_tag(struct fb_buf *text);
bool fb_rule_cxx_inline_namespace(struct fb_buf *text);
bool fb_rule_cxx_lambda(struct fb_buf *text);
bool fb_rule_ordinal(struct fb_buf *text);
bool fb_rule_rust_escape(struct fb_buf *text);
bool fb_rule_rust_hash(struct fb_buf *text);
bool fb_rule_rust_crate(struct fb_buf *text);
bool fb_rule_libc_alias(struct fb_buf *text); /* canonical_libc.c */
bool fb_rule_libc_public(struct fb_buf *text);
bool fb_rule_isa(struct fb_buf *text);
bool fb_rule_syscall(struct fb_buf *text);
bool fb_rule_bpf(struct fb_buf *text);
bool fb_rule_thread(struct fb_buf *text);      /* canonical_thread.c */
bool fb_rule_java_hidden(struct fb_buf *text); /* canonical_java.c */
bool fb_rule_java_lambda(struct fb_buf *text);
bool fb_rule_java_accessor(struct fb_buf *text);
bool fb_rule_java_proxy(struct fb_buf *text);
bool fb_rule_java_generated(struct fb_buf *text);

#endif
