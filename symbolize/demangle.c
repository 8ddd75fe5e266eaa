/* libiberty, with its input, its output and its time capped.
 *
 * A mangled name of 400 bytes can stand for 2^80 bytes of text (each back reference doubles it),
 * and the demangler cannot be asked to stop: so its output is taken piecewise, and the piece that
 * passes the cap leaves by longjmp.  It can as well work for hours without a byte of output: it
 * looks for a parameter pack through all types of a pattern as often as they are referred to.  So a
 * C++ name is parsed first, which costs its length, the visits that its tree would take are
 * counted, each node once, and only then it is printed; a name with few references to what was
 * before them is not counted, because it cannot be so large.  The parser's own limit of recursion
 * is off: it refuses every name of more than 1,024 bytes, which templates often have; the printer's
 * stays.
 *
 * Rust writes something at each visit, so the cap of the output is one of the time; only an
 * identifier in punycode holds memory, which is then lost: at most a few KB per hostile name.  D
 * gives its text at the end only: what its back references can expand to is bounded beforehand. */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbolize/symbolize.h"

enum {
    INPUT_MAX = 16 << 10,
    D_INPUT_MAX = 4 << 10, /* its demangler copies the text once a level */
    OUTPUT_MAX = 64 << 10,
    DEPTH_MAX = 2048, /* the printer gives up at 1,024 */
    VISITS_MAX = 1 << 21,
    OPTIONS = DMGL_PARAMS | DMGL_ANSI,
};

typedef struct demangle_component component;

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

/* ---- C++ ---- */

struct visits {
    const component *base; /* the nodes are one array */
    size_t count;
    uint32_t *list, *of_node; /* by node, 0 not known yet: elements from here on; 1 + visits */
    uint32_t longest;         /* list of template arguments: no pack has more elements */
};

/* The nodes below c. */
static void children(const component *c, const component *ret[2])
{
    ret[0] = ret[1] = NULL;
    switch (c->type) {
    case DEMANGLE_COMPONENT_NAME:
    case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
    case DEMANGLE_COMPONENT_FUNCTION_PARAM:
    case DEMANGLE_COMPONENT_SUB_STD:
    case DEMANGLE_COMPONENT_BUILTIN_TYPE:
    case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
    case DEMANGLE_COMPONENT_OPERATOR:
    case DEMANGLE_COMPONENT_CHARACTER:
    case DEMANGLE_COMPONENT_NUMBER:
    case DEMANGLE_COMPONENT_UNNAMED_TYPE:
        break;
    case DEMANGLE_COMPONENT_FIXED_TYPE:
        ret[0] = c->u.s_fixed.length;
        break;
    case DEMANGLE_COMPONENT_CTOR:
        ret[0] = c->u.s_ctor.name;
        break;
    case DEMANGLE_COMPONENT_DTOR:
        ret[0] = c->u.s_dtor.name;
        break;
    case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
        ret[0] = c->u.s_extended_operator.name;
        break;
    case DEMANGLE_COMPONENT_LAMBDA:
    case DEMANGLE_COMPONENT_DEFAULT_ARG:
        ret[0] = c->u.s_unary_num.sub;
        break;
    default:
        ret[0] = c->u.s_binary.left;
        ret[1] = c->u.s_binary.right;
    }
}

/* Finds the longest list of template arguments; false where the tree is too deep to be printed. */
static bool find_lists(struct visits *v, const component *c, unsigned depth)
{
    size_t i = (size_t)(c - v->base);
    const component *below[2];

    if (i >= v->count || depth > DEPTH_MAX)
        return false;
    if (v->list[i] > 0)
        return true;
    v->list[i] = 1;
    children(c, below);
    for (int k = 0; k < 2; k++)
        if (below[k] && !find_lists(v, below[k], depth + 1))
            return false;
    if (c->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST && below[1])
        v->list[i] += v->list[below[1] - v->base];
    if (v->list[i] > v->longest)
        v->longest = v->list[i];
    return true;
}

/* The visits of printing c, VISITS_MAX for more.  A pattern of a pack is looked through once, and
 * printed for each element. */
static uint32_t visits(struct visits *v, const component *c, unsigned depth)
{
    size_t i = (size_t)(c - v->base);
    const component *below[2];
    uint64_t sum = 1;

    if (i >= v->count || depth > DEPTH_MAX)
        return VISITS_MAX;
    if (v->of_node[i] > 0)
        return v->of_node[i] - 1;
    children(c, below);
    for (int k = 0; k < 2; k++)
        if (below[k])
            sum += visits(v, below[k], depth + 1);
    if (c->type == DEMANGLE_COMPONENT_PACK_EXPANSION)
        sum *= 1 + (uint64_t)v->longest;
    if (sum > VISITS_MAX)
        sum = VISITS_MAX;
    v->of_node[i] = (uint32_t)sum + 1;
    return (uint32_t)sum;
}

/* Whether no tree of this name can be deep or take VISITS_MAX visits, by its letters alone.
 *
 * The parser makes 2 nodes a byte at most, so none lies deeper.  A node has two parents only where
 * the name refers back: a constructor to the name before it, which is one node, counted for each
 * node here; S_, S0_ ... to something that is whole, so each doubles at most all that was there
 * before.  A pack (Dp, sp) repeats its pattern for each argument, of which there are fewer than
 * bytes. */
static bool is_small(const char *mangled, size_t len)
{
    uint64_t most = 4 * (uint64_t)len;

    if (most >= 2 * (uint64_t)DEPTH_MAX)
        return false;
    for (size_t i = 1; i < len && most < VISITS_MAX; i++) {
        char before = mangled[i - 1], c = mangled[i];

        if (before == 'S' && (c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')))
            most *= 2;
        else if (c == 'p' && (before == 'D' || before == 's'))
            most *= 1 + (uint64_t)len;
    }
    return most < VISITS_MAX;
}

/* Whether the tree can be printed in a bounded time. */
static bool is_printable(const component *tree, const void *nodes, size_t count)
{
    struct visits v = {.base = nodes, .count = count};
    bool is;

    v.list = fb_alloc_array(count, sizeof *v.list);
    v.of_node = fb_alloc_array(count, sizeof *v.of_node);
    is = find_lists(&v, tree, 0) && visits(&v, tree, 0) < VISITS_MAX;
    free(v.list);
    free(v.of_node);
    return is;
}

/* Whether it is C++ and its text fits; sink->text is it. */
static bool run_cxx(const char *mangled, struct sink *sink)
{
    void *nodes = NULL;
    component *tree =
        cplus_demangle_v3_components(mangled, OPTIONS | DMGL_NO_RECURSE_LIMIT, &nodes);
    size_t len = strlen(mangled);
    bool done = tree && (is_small(mangled, len) || is_printable(tree, nodes, 2 * len));

    sink->text.len = 0;
    if (done && setjmp(sink->too_long) == 0)
        cplus_demangle_print_callback(OPTIONS, tree, collect, sink);
    free(nodes);
    return done && sink->text.len > 0 && !sink->text.overflow;
}

/* ---- Rust ---- */

/* Its own mangling, or a C++ name with a hash of 16 digits. */
static bool may_be_rust(const char *mangled)
{
    return mangled[1] == 'R' || (mangled[1] == 'Z' && strstr(mangled, "17h") != NULL);
}

static bool run_rust(const char *mangled, struct sink *sink)
{
    sink->text.len = 0;
    if (setjmp(sink->too_long) != 0)
        return false;
    return rust_demangle_callback(mangled, OPTIONS, collect, sink) != 0 && sink->text.len > 0;
}

/* ---- D ---- */

/* The target of the back reference at `at` ("Q", then digits of base 26, the last one small), or
 * `at` if it is none. */
static size_t d_target(const char *mangled, size_t at)
{
    size_t distance = 0;

    for (const char *p = mangled + at + 1;; p++) {
        if (*p >= 'A' && *p <= 'Z' && distance < D_INPUT_MAX)
            distance = distance * 26 + (size_t)(*p - 'A');
        else if (*p >= 'a' && *p <= 'z' && distance < D_INPUT_MAX)
            return distance * 26 + (size_t)(*p - 'a') > at
                       ? at
                       : at - distance * 26 - (size_t)(*p - 'a');
        else
            return at;
    }
}

/* Whether the name cannot become longer than the cap: a reference to a type stands for no more
 * than all of the text between the type and itself, one to an identifier for that identifier. */
static bool is_d_bounded(const char *mangled, size_t len)
{
    size_t *length = fb_alloc_array(len + 1, sizeof *length); /* of the text up to there */
    bool is = true;

    for (size_t i = 0; i < len && is; i++) {
        size_t target = mangled[i] == 'Q' ? d_target(mangled, i) : i, n = 1;

        if (target < i && (mangled[target] < '0' || mangled[target] > '9'))
            n += length[i] - length[target];
        else if (target < i)
            n += strtoul(mangled + target, NULL, 10) % D_INPUT_MAX;
        length[i + 1] = length[i] + n;
        is = length[i + 1] < (size_t)VISITS_MAX;
    }
    free(length);
    return is;
}

static bool run_d(const char *mangled, struct sink *sink)
{
    size_t len = strlen(mangled);
    char *text;

    sink->text.len = 0;
    if (mangled[1] != 'D' || len > D_INPUT_MAX || !is_d_bounded(mangled, len))
        return false;
    text = dlang_demangle(mangled, OPTIONS);
    if (text)
        fb_buf_puts(&sink->text, text);
    free(text);
    return sink->text.len > 0 && !sink->text.overflow;
}

/* ---- any of them ---- */

/* One mangled name without a suffix of the linker.  Rust before C++: its legacy names are C++ names
 * with a hash at the end. */
static bool demangle(const char *mangled, struct fb_buf *out)
{
    struct sink sink = {.text = {.max = OUTPUT_MAX}};
    bool done = may_be_rust(mangled) && run_rust(mangled, &sink);

    if (!done && !sink.text.overflow && mangled[1] == 'Z')
        done = run_cxx(mangled, &sink);
    if (mangled[1] == 'D')
        done = run_d(mangled, &sink);
    if (done)
        fb_buf_add(out, sink.text.data, sink.text.len);
    fb_buf_done(&sink.text);
    return done;
}

/* Where the version of a symbol ("@@LIB_1.0", "@plt") starts, or LLVM's hash (".llvm.123"), which
 * libiberty takes after C++ names only. */
static size_t suffix_at(const char *raw)
{
    size_t len = (size_t)(strchrnul(raw, '@') - raw);
    const char *llvm = strstr(raw, ".llvm.");

    return llvm && (size_t)(llvm - raw) < len ? (size_t)(llvm - raw) : len;
}

bool fb_name_demangle(const char *raw, struct fb_buf *out)
{
    size_t len = strlen(raw), cut;
    char *head;
    bool done;

    if (raw[0] != '_' || !raw[1] || !strchr("ZRD", raw[1]) || len > INPUT_MAX)
        return false;
    cut = suffix_at(raw);
    head = cut < len ? fb_strndup(raw, cut) : NULL;
    done = demangle(head ? head : raw, out);
    if (done && raw[cut] == '.')
        fb_buf_printf(out, " [clone %s]", raw + cut);
    else if (done)
        fb_buf_puts(out, raw + cut);
    free(head);
    return done;
}
