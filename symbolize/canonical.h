/* canonical.h - the rules that make one name of the many that a function has.
 *
 * An ordered table: a rule rewrites the text, and the table is applied again until no rule changes
 * anything, so the order matters only where a comment says so, and the result is a fixed point:
 * the canonical form of a canonical name is itself.  A new rule is a row here, three lines in
 * tests/unit/symbolize/test_canonical.c, and a row in docs/names.md.
 *
 * A rule passes over the name a bounded number of times, so that a hostile name costs its length.
 * Most names need few rules: one look at the characters of a name leaves the rules that can change
 * it. */
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
    uint64_t needs;   /* classes of characters, each of which a name must have for it */
    bool merges;      /* functions that differ have one name after it               */
    /* Rewrites the text (NUL-terminated, not empty); true if it changed. */
    bool (*apply)(struct fb_buf *text);
};

/* Borrowed table and its length. */
const struct fb_name_rule *fb_name_rule_table(size_t *ret_count);

/* The rules, by file. */
bool fb_rule_inlined(struct fb_buf *text); /* canonical_suffix.c */
bool fb_rule_tier(struct fb_buf *text);
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
bool fb_rule_java_form(struct fb_buf *text);
bool fb_rule_java_accessor(struct fb_buf *text);
bool fb_rule_java_reflect(struct fb_buf *text);
bool fb_rule_java_proxy(struct fb_buf *text);
bool fb_rule_java_generated(struct fb_buf *text);
bool fb_rule_java_path(struct fb_buf *text); /* canonical_jvm.c */
bool fb_rule_java_path_known(struct fb_buf *text);
bool fb_rule_java_signature(struct fb_buf *text);
bool fb_rule_java_stub(struct fb_buf *text);
bool fb_rule_clojure(struct fb_buf *text); /* canonical_clojure.c */
bool fb_rule_clojure_number(struct fb_buf *text);
bool fb_rule_scala_anonymous(struct fb_buf *text); /* canonical_scala.c */
bool fb_rule_scala_object(struct fb_buf *text);
bool fb_rule_scala_escape(struct fb_buf *text);
bool fb_rule_kotlin_lambda(struct fb_buf *text);
bool fb_rule_kotlin(struct fb_buf *text);
bool fb_rule_go_closure(struct fb_buf *text); /* canonical_go.c */
bool fb_rule_go_suffix(struct fb_buf *text);
bool fb_rule_go_version(struct fb_buf *text);
bool fb_rule_js_tier(struct fb_buf *text); /* canonical_script.c */
bool fb_rule_js_tier_known(struct fb_buf *text);
bool fb_rule_line(struct fb_buf *text);
bool fb_rule_js_hash(struct fb_buf *text);
bool fb_rule_python_path(struct fb_buf *text);
bool fb_rule_ruby_block(struct fb_buf *text);
bool fb_rule_dotnet_tier(struct fb_buf *text);
bool fb_rule_dotnet_generated(struct fb_buf *text);
bool fb_rule_native_image(struct fb_buf *text);

#endif
