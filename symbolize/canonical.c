/* The table, and its application up to the fixed point. */
#include "symbolize/canonical.h"

#include <string.h>
#include <threads.h>

#include "symbolize/symbolize.h"

enum {
    CLASSES_COUNT = 38,
    LENGTH_MAX = 16 << 10, /* longer names are left as they are */
    ROUNDS_MAX = 32, /* names of people need two or three; one that needs more is left as it is */
};

#define KIND(k) (1u << FB_FRAME_##k)
#define CODE    (KIND(NATIVE) | KIND(STUB) | KIND(INLINED))
#define KERNEL  KIND(KERNEL)
/* Of other tools' text, and of perf maps, nobody says what is Java. */
#define JAVA   (KIND(JAVA) | CODE | KIND(JIT))
#define SCRIPT (KIND(JS) | CODE | KIND(JIT))

/* Characters by class: 33 marks one by one; digits, capital letters, small letters, bytes above
 * ASCII and control characters together. */
#define CLASS(c)                                                                                   \
    ((c) < ' '     ? 37                                                                            \
     : (c) < '0'   ? (c) - ' '                                                                     \
     : (c) <= '9'  ? 16                                                                            \
     : (c) <= '@'  ? (c) - ':' + 17                                                                \
     : (c) <= 'Z'  ? 24                                                                            \
     : (c) <= '`'  ? (c) - '[' + 25                                                                \
     : (c) <= 'z'  ? 31                                                                            \
     : (c) <= '~'  ? (c) - '{' + 32                                                                \
     : (c) == 0x7f ? 37                                                                            \
                   : 36)
#define HAS(c)     (UINT64_C(1) << CLASS(c))
#define BYTE(c)    ((uint8_t)(CLASS(c)))
#define FOUR(c)    BYTE(c), BYTE((c) + 1), BYTE((c) + 2), BYTE((c) + 3)
#define SIXTEEN(c) FOUR(c), FOUR((c) + 4), FOUR((c) + 8), FOUR((c) + 12)
#define ALL_OF(c)  SIXTEEN(c), SIXTEEN((c) + 16), SIXTEEN((c) + 32), SIXTEEN((c) + 48)

static const uint8_t class_of[256] = {ALL_OF(0), ALL_OF(64), ALL_OF(128), ALL_OF(192)};

/* Suffixes first: they hide the name from the demangler.  Clojure before the paths and the names of
 * Scala: what it writes has '/' in another meaning and '$' in none. */
static const struct fb_name_rule rules[] = {
    {"inlined", "the marks of inlined frames: (inlined), [inlined], _[i]", JAVA | KERNEL, 0, false,
     fb_rule_inlined},
    {"tier", "async-profiler's marks of a method's tier: _[j], _[0], _[1]", JAVA, HAS('['), false,
     fb_rule_tier},
    {"kernel-tag", "the mark of kernel frames: _[k]", CODE | KERNEL, HAS('['), false,
     fb_rule_kernel_tag},
    {"offset", "the offset into the function: +0x12/0x80", CODE | KERNEL, HAS('+'), false,
     fb_rule_offset},
    {"plt", "the mark of a PLT entry: f@plt", CODE, HAS('@'), false, fb_rule_plt},
    {"symbol-version", "the version of a symbol: f@@GLIBC_2.34", CODE, HAS('@'), false,
     fb_rule_version},
    {"clone", "the compiler's clones: .cold .part.0 .isra.0 .constprop.0 .llvm.1 [clone .x]",
     CODE | KERNEL, HAS('.'), false, fb_rule_clone},
    {"jfr-module", "the module that converters of JFR put in front: libjvm.so.f, .itable stub",
     CODE, HAS('.'), false, fb_rule_jfr_module},
    {"demangle", "mangled C++, Rust and D names", CODE | KERNEL, HAS('_'), false, fb_rule_demangle},
    {"cxx-anonymous", "all spellings of (anonymous namespace)", CODE, 0, false,
     fb_rule_cxx_anonymous},
    {"cxx-abi-tag", "[abi:cxx11]", CODE, HAS('[') | HAS(':'), false, fb_rule_cxx_abi_tag},
    {"cxx-inline-namespace", "std::__cxx11:: and std::__1:: are std::", CODE, HAS('_') | HAS(':'),
     false, fb_rule_cxx_inline_namespace},
    {"cxx-lambda", "{lambda(int)#2}, 'lambda0'(int) and $_3 are {lambda}", CODE, 0, true,
     fb_rule_cxx_lambda},
    {"ordinal", "{closure#1} and {{closure}} are {closure}", CODE | KERNEL, HAS('{'), true,
     fb_rule_ordinal},
    {"rust-escape", "$LT$ $u20$ .. of partly demangled Rust names", CODE, HAS('$') | HAS('A'),
     false, fb_rule_rust_escape},
    {"rust-hash", "the hash at the end of legacy Rust names", CODE, HAS(':'), true,
     fb_rule_rust_hash},
    {"rust-crate", "the disambiguator of a crate: core[846817f741e54dfd]::", CODE,
     HAS('[') | HAS(':'), false, fb_rule_rust_crate},
    {"libc-alias", "glibc's internal aliases: __GI_f", CODE, HAS('_'), false, fb_rule_libc_alias},
    {"libc-public", "glibc's implementation names of public functions: __libc_malloc", CODE,
     HAS('_'), false, fb_rule_libc_public},
    {"isa", "glibc's variants for instruction sets: __memmove_evex_unaligned_erms", CODE, HAS('_'),
     false, fb_rule_isa},
    {"syscall", "the wrappers of system calls: __x64_sys_read", CODE | KERNEL, HAS('_'), false,
     fb_rule_syscall},
    {"bpf", "the tag of a BPF program: bpf_prog_6deef7357e7b4530_name", CODE | KERNEL,
     HAS('_') | HAS('0'), false, fb_rule_bpf},
    {"thread", "the tid and the numbers of a thread: [pool-3-thread-17 tid=812]", KIND(MARK),
     HAS('['), false, fb_rule_thread},
    {"java-hidden", "the address of a hidden class: Foo$$Lambda/0x00007f99b4009000", JAVA, HAS('0'),
     true, fb_rule_java_hidden},
    {"java-lambda", "the numbers of lambdas: Foo$$Lambda$14, lambda$main$1", JAVA, HAS('$'), true,
     fb_rule_java_lambda},
    {"java-form", "the number of a LambdaForm: LambdaForm$MH012, LambdaForm$DMH/1234567", JAVA,
     HAS('$') | HAS('0'), true, fb_rule_java_form},
    {"java-accessor", "the number of a reflection's accessor: GeneratedMethodAccessor12", JAVA,
     HAS('0') | HAS('A'), true, fb_rule_java_accessor},
    {"java-reflect", "the package that JDK 9 moved: sun.reflect is jdk.internal.reflect", JAVA, 0,
     false, fb_rule_java_reflect},
    {"java-proxy", "the number and the package of a proxy: jdk.proxy2.$Proxy33", JAVA,
     HAS('$') | HAS('A'), true, fb_rule_java_proxy},
    {"java-generated", "the hash of CGLIB's, ByteBuddy's, Hibernate's, Mockito's classes", JAVA,
     HAS('$'), true, fb_rule_java_generated},
    {"clojure", "a function of Clojure and its methods: my.ns$f_BANG_.invokeStatic is my.ns/f!",
     JAVA, HAS('$'), false, fb_rule_clojure},
    {"clojure-number", "the numbers of Clojure: my.ns/f/fn--1234, my.ns/eval12", JAVA, 0, true,
     fb_rule_clojure_number},
    {"scala-anonymous", "Scala's functions without a name: $anonfun$f$1, Foo$$anon$11", JAVA,
     HAS('$'), true, fb_rule_scala_anonymous},
    {"scala-object", "the '$' of an object, and $extension", JAVA, HAS('$'), false,
     fb_rule_scala_object},
    {"scala-escape", "$plus, $u2192", JAVA, HAS('$'), false, fb_rule_scala_escape},
    {"kotlin-lambda", "Kotlin's lambdas: MainKt$f$1.invoke, f$lambda$0", JAVA, HAS('$') | HAS('0'),
     true, fb_rule_kotlin_lambda},
    {"kotlin", "Kotlin's $default, $Companion and the hash in f-IoAF18A", JAVA, 0, false,
     fb_rule_kotlin},
    {"java-path", "java/lang/String.x and java.lang.String::x are java.lang.String.x", KIND(JAVA),
     0, false, fb_rule_java_path_known},
    {"java-path", "the same, where nobody says that it is Java", CODE | KIND(JIT), 0, false,
     fb_rule_java_path},
    {"java-signature", "what a Java method takes and returns: (I)V, (int), void", JAVA,
     HAS('(') | HAS(')') | HAS('.'), true, fb_rule_java_signature},
    {"java-stub", "the number and the address of HotSpot's code: StubRoutines (2)", JAVA, HAS(' '),
     false, fb_rule_java_stub},
    {"go-closure", "the numbers of Go's functions without a name: F.func1.2, F.gowrap1", CODE,
     HAS('.') | HAS('0'), true, fb_rule_go_closure},
    {"go-suffix", "(*T).M-fm, f.abi0", CODE, 0, false, fb_rule_go_suffix},
    {"go-version", "the version within a path of Go: a.com/x@v1.2.3/y", CODE, HAS('/'), false,
     fb_rule_go_version},
    {"js-tier", "V8's sort of code and its tier: LazyCompile:*f", SCRIPT, HAS(':'), false,
     fb_rule_js_tier},
    {"js-tier", "the tier alone, of what is known to be JavaScript: *f", KIND(JS), 0, false,
     fb_rule_js_tier_known},
    {"line", "the place within a file of JavaScript, Python or Ruby: app.js:12:34", SCRIPT,
     HAS(':') | HAS('0') | HAS(' '), true, fb_rule_line},
    {"js-hash", "the hash of a bundle's content: main.3f9a1c.js", SCRIPT, HAS('.') | HAS('0'),
     false, fb_rule_js_hash},
    {"python-path", "where Python stands: /srv/venv/lib/python3.11/site-packages/x.py", SCRIPT,
     HAS('/') | HAS('.'), false, fb_rule_python_path},
    {"ruby-block", "block (2 levels) in m", SCRIPT, HAS(' ') | HAS('('), true, fb_rule_ruby_block},
    {"dotnet-tier", ".NET's tier: f[Tier1], f [OptimizedTier1]", SCRIPT, HAS('[') | HAS(']'), false,
     fb_rule_dotnet_tier},
    {"dotnet-generated", "C#'s lambdas, local and async functions: <Main>b__0_1", SCRIPT,
     HAS('<') | HAS('>') | HAS('_'), true, fb_rule_dotnet_generated},
    {"native-image", "the hash of GraalVM's images: String_hashCode_<40 digits>", CODE,
     HAS('_') | HAS('0'), true, fb_rule_native_image},
    {"unknown", "bare addresses, and the version in [unknown] libx.so.1.2", CODE | KERNEL, 0, false,
     fb_rule_unknown},
};

enum { RULES_COUNT = sizeof rules / sizeof rules[0] };
_Static_assert(RULES_COUNT < 64, "a set of rules is 64 bits");

static fb_name_rules rules_in_use = FB_NAME_RULES_ALL;

const struct fb_name_rule *fb_name_rule_table(size_t *ret_count)
{
    *ret_count = RULES_COUNT;
    return rules;
}

const char *fb_name_rule_get(size_t i, const char **ret_what)
{
    if (i >= RULES_COUNT)
        return NULL;
    if (ret_what)
        *ret_what = rules[i].what;
    return rules[i].name;
}

fb_name_rules fb_name_rules_named(const char *name)
{
    fb_name_rules set = 0;

    for (size_t i = 0; i < RULES_COUNT; i++)
        if (strcmp(rules[i].name, name) == 0)
            set |= UINT64_C(1) << i;
    return set;
}

fb_name_rules fb_name_rules_merging(void)
{
    fb_name_rules set = 0;

    for (size_t i = 0; i < RULES_COUNT; i++)
        if (rules[i].merges)
            set |= UINT64_C(1) << i;
    return set;
}

void fb_name_rules_use(fb_name_rules set)
{
    rules_in_use = set;
}

fb_name_rules fb_name_rules_in_use(void)
{
    return rules_in_use;
}

/* The classes of the characters of a text. */
static uint64_t classes(const char *text, size_t len)
{
    uint64_t present = 0;

    for (size_t i = 0; i < len; i++)
        present |= UINT64_C(1) << class_of[(unsigned char)text[i]];
    return present;
}

/* The table the other way round: the rules of a kind, and those that need a class. */
static fb_name_rules of_kind[FB_FRAME_KIND_COUNT], needing[CLASSES_COUNT];
static once_flag is_indexed = ONCE_FLAG_INIT;

static void index_rules(void)
{
    for (size_t i = 0; i < RULES_COUNT; i++) {
        for (size_t kind = 0; kind < FB_FRAME_KIND_COUNT; kind++)
            of_kind[kind] |= (uint64_t)(rules[i].kinds >> kind & 1) << i;
        for (size_t c = 0; c < CLASSES_COUNT; c++)
            needing[c] |= (rules[i].needs >> c & 1) << i;
    }
}

/* The rules that may change a name of such characters. */
static fb_name_rules candidates(enum fb_frame_kind kind, uint64_t present)
{
    uint64_t absent = ~present & ((UINT64_C(1) << CLASSES_COUNT) - 1);
    fb_name_rules found = of_kind[kind];

    for (; absent != 0; absent &= absent - 1)
        found &= ~needing[__builtin_ctzll(absent)];
    return found;
}

/* One round over the table; the rules that fired.  What a rule writes may have characters that a
 * later one needs: that one has its turn in the next round. */
static fb_name_rules apply_round(struct fb_buf *text, fb_name_rules set, enum fb_frame_kind kind)
{
    fb_name_rules fired = 0, left = candidates(kind, classes(text->data, text->len)) & set;

    for (; left != 0 && text->len > 0 && !text->overflow; left &= left - 1) {
        int i = __builtin_ctzll(left);

        if (rules[i].apply(text))
            fired |= UINT64_C(1) << i;
    }
    return fired;
}

fb_name_rules fb_name_canonical_by(fb_name_rules set, const char *raw, size_t len,
                                   enum fb_frame_kind kind, struct fb_buf *out)
{
    struct fb_buf text = {.max = LENGTH_MAX};
    fb_name_rules fired = 0, now = 1;

    call_once(&is_indexed, index_rules);
    if (len > 0 && len <= LENGTH_MAX && (unsigned)kind < FB_FRAME_KIND_COUNT && set != 0 &&
        !memchr(raw, 0, len))
        fb_buf_add(&text, raw, len);
    for (int round = 0; text.len > 0 && !text.overflow && now != 0 && round < ROUNDS_MAX; round++) {
        now = apply_round(&text, set, kind);
        fired |= now;
    }
    if (text.len == 0 || text.overflow || now != 0) {
        fb_buf_add(out, raw, len);
        fired = 0;
    } else {
        fb_buf_add(out, text.data, text.len);
    }
    fb_buf_done(&text);
    return fired;
}

void fb_name_canonical(const char *raw, size_t len, enum fb_frame_kind kind, struct fb_buf *out)
{
    fb_name_canonical_by(rules_in_use, raw, len, kind, out);
}
