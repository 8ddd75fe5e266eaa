/* libiberty, with both ends capped.
 *
 * A mangled name of 400 bytes can stand for 2^80 bytes of text (each back reference doubles it),
 * and the demangler cannot be asked to stop: so its output is taken piecewise, and the piece that
 * passes the cap leaves by longjmp.  libiberty keeps its state on the stack there; only a Rust
 * identifier in punycode holds memory, which is then lost: at most a few KB per hostile name. */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbolize/symbolize.h"

enum {
    INPUT_MAX = 16 << 10,
    OUTPUT_MAX = 64 << 10,
    OPTIONS = DMGL_PARAMS | DMGL_ANSI,
};

struct sink {
    struct fb_buf text;
    jmp_buf too_long;
};

static void collect(const char *piece, size_t n, void *opaque)
{
    struct sink *sink = opaque;

    fb_buf_add(&sink->text, piece, n);
    if (sink->text.overflow)
        longjmp(sink->too_long, 1);
}

/* Both demanglers have this shape. */
typedef int (*demangle_fn)(const char *mangled, int options, demangle_callbackref callback,
                           void *opaque);

/* Whether fn took the name and its text fits; sink->text is it. */
static bool run(demangle_fn fn, const char *mangled, struct sink *sink)
{
    sink->text.len = 0;
    if (setjmp(sink->too_long) != 0)
        return false;
    return fn(mangled, OPTIONS, collect, sink) != 0 && sink->text.len > 0;
}

/* One mangled name without a suffix of the linker.  Rust first: its legacy names are C++ names
 * with a hash at the end. */
static bool demangle(const char *mangled, struct fb_buf *out)
{
    struct sink sink = {.text = {.max = OUTPUT_MAX}};
    bool done = run(rust_demangle_callback, mangled, &sink);

    if (!done && !sink.text.overflow)
        done = run(cplus_demangle_v3_callback, mangled, &sink);
    if (done)
        fb_buf_add(out, sink.text.data, sink.text.len);
    fb_buf_done(&sink.text);
    return done;
}

/* Where the version of a symbol ("@@LIB_1.0", "@plt") starts, or LLVM's hash (".llvm.123"), which
 * libiberty takes after C++ names only. */
static size_t suffix_at(const char *raw)
{
    size_t len = strcspn(raw, "@");
    const char *llvm = strstr(raw, ".llvm.");

    return llvm && (size_t)(llvm - raw) < len ? (size_t)(llvm - raw) : len;
}

bool fb_name_demangle(const char *raw, struct fb_buf *out)
{
    size_t len = strlen(raw), cut;
    char *head;
    bool done;

    if (raw[0] != '_' || (raw[1] != 'Z' && raw[1] != 'R') || len > INPUT_MAX)
        return false;
    cut = suffix_at(raw);
    head = fb_strndup(raw, cut);
    done = demangle(head, out);
    if (done && raw[cut] == '.')
        fb_buf_printf(out, " [clone %s]", raw + cut);
    else if (done)
        fb_buf_puts(out, raw + cut);
    free(head);
    return done;
}
