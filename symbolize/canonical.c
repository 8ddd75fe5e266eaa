/* The table, and its application up to the fixed point. */
#include "symbolize/canonical.h"

#include <string.h>

#include "symbolize/symbolize.h"

enum {
    LENGTH_MAX = 16 << 10, /* longer names are left as they are: rules may cost their square */
    ROUNDS_MAX = 32, /* names of people need two or three; one that needs more is left as it is */
};

#define KIND(k) (1u << FB_FRAME_##k)
#define CODE    (KIND(NATIVE) | KIND(STUB) | KIND(INLINED))
#define KERNEL  KIND(KERNEL)
#define JAVA    (KIND(JAVA) | CODE) /* of other tools' text nobody says what is Java */

/* Suffixes first: they hide the name from the demangler. */
static const struct fb_name_rule rules[] = {
    {"inlined", "the marks of inlined frames: (inlined), [inlined], _[i]", CODE | KERNEL,
     fb_rule_inlined},
    {"kernel-tag", "the mark of kernel frames: _[k]", CODE | KERNEL, fb_rule_kernel_tag},
    {"offset", "the offset into the function: +0x12/0x80", CODE | KERNEL, fb_rule_offset},
    {"plt", "the mark of a PLT entry: f@plt", CODE, fb_rule_plt},
    {"symbol-version", "the version of a symbol: f@@GLIBC_2.34", CODE, fb_rule_version},
    {"clone", "the compiler's clones: .cold .part.0 .isra.0 .constprop.0 .llvm.1 [clone .x]",
     CODE | KERNEL, fb_rule_clone},
    {"jfr-module", "the module that converters of JFR put in front: libjvm.so.f, .itable stub",
     CODE, fb_rule_jfr_module},
    {"demangle", "mangled C++ and Rust names", CODE | KERNEL, fb_rule_demangle},
    {"cxx-anonymous", "all spellings of (anonymous namespace)", CODE, fb_rule_cxx_anonymous},
    {"cxx-abi-tag", "[abi:cxx11]", CODE, fb_rule_cxx_abi_tag},
    {"cxx-inline-namespace", "std::__cxx11:: and std::__1:: are std::", CODE,
     fb_rule_cxx_inline_namespace},
    {"cxx-lambda", "{lambda(int)#2}, 'lambda0'(int) and $_3 are {lambda}", CODE,
     fb_rule_cxx_lambda},
    {"ordinal", "{closure#1} and {{closure}} are {closure}", CODE | KERNEL, fb_rule_ordinal},
    {"rust-escape", "$LT$ $u20$ .. of partly demangled Rust names", CODE, fb_rule_rust_escape},
    {"rust-hash", "the hash at the end of legacy Rust names", CODE, fb_rule_rust_hash},
    {"rust-crate", "the disambiguator of a crate: core[846817f741e54dfd]::", CODE,
     fb_rule_rust_crate},
    {"libc-alias", "glibc's internal aliases: __GI_f", CODE, fb_rule_libc_alias},
    {"libc-public", "glibc's implementation names of public functions: __libc_malloc", CODE,
     fb_rule_libc_public},
    {"isa", "glibc's variants for instruction sets: __memmove_evex_unaligned_erms", CODE,
     fb_rule_isa},
    {"syscall", "the wrappers of system calls: __x64_sys_read", CODE | KERNEL, fb_rule_syscall},
    {"bpf", "the tag of a BPF program: bpf_prog_6deef7357e7b4530_name", CODE | KERNEL, fb_rule_bpf},
    {"thread", "the tid and the numbers of a thread: [pool-3-thread-17 tid=812]", KIND(MARK),
     fb_rule_thread},
    {"java-hidden", "the address of a hidden class: Foo$$Lambda/0x00007f99b4009000", JAVA,
     fb_rule_java_hidden},
    {"java-lambda", "the numbers of lambdas: Foo$$Lambda$14, lambda$main$1", JAVA,
     fb_rule_java_lambda},
    {"java-accessor", "the number of a reflection's accessor: GeneratedMethodAccessor12", JAVA,
     fb_rule_java_accessor},
    {"java-proxy", "the number of a proxy: jdk.proxy2.$Proxy33", JAVA, fb_rule_java_proxy},
    {"java-generated", "the hash of CGLIB's, ByteBuddy's, Hibernate's, Mockito's classes", JAVA,
     fb_rule_java_generated},
    {"unknown", "bare addresses, and the version in [unknown] libx.so.1.2", CODE | KERNEL,
     fb_rule_unknown},
};

enum { RULES_COUNT = sizeof rules / sizeof rules[0] };
_Static_assert(RULES_COUNT <= 64, "a set of rules is 64 bits");

const struct fb_name_rule *fb_name_rules(size_t *ret_count)
{
    *ret_count = RULES_COUNT;
    return rules;
}

uint64_t fb_name_canonical_rules(const char *raw, size_t len, enum fb_frame_kind kind,
                                 struct fb_buf *out)
{
    struct fb_buf text = {.max = LENGTH_MAX};
    uint64_t fired = 0, now = 1;

    if (len > 0 && len <= LENGTH_MAX && !memchr(raw, 0, len) && kind >= 0 &&
        kind < FB_FRAME_KIND_COUNT)
        fb_buf_add(&text, raw, len);
    for (int round = 0; text.len > 0 && now != 0 && round < ROUNDS_MAX; round++) {
        now = 0;
        for (size_t i = 0; i < RULES_COUNT; i++)
            if ((rules[i].kinds >> kind & 1) && rules[i].apply(&text))
                now |= (uint64_t)1 << i;
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
    fb_name_canonical_rules(raw, len, kind, out);
}
