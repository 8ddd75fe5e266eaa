#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "symbolize/canonical.h"
#include "symbolize/symbolize.h"

#define N FB_FRAME_NATIVE
#define K FB_FRAME_KERNEL
#define M FB_FRAME_MARK
#define S FB_FRAME_STUB
#define J FB_FRAME_JAVA
#define I FB_FRAME_INLINED

/* One row a law: the rule that must fire, the raw name, the canonical one. */
static const struct row {
    const char *rule, *raw, *canonical;
    enum fb_frame_kind kind;
} rows[] = {
    {"inlined", "deflate_fast (inlined)", "deflate_fast", N},
    {"inlined", "deflate_fast [inlined]", "deflate_fast", N},
    {"inlined", "deflate_fast_[i]", "deflate_fast", N},
    {"kernel-tag", "tcp_sendmsg_[k]", "tcp_sendmsg", K},
    {"offset", "tcp_sendmsg+0x12/0x80", "tcp_sendmsg", K},
    {"offset", "ext4_map_blocks+0x1a/0x2f0 [ext4]", "ext4_map_blocks", K},
    {"offset", "main+0x1f", "main", N},
    {"plt", "memcpy@plt", "memcpy", S},
    {"plt", "shape::side(int)@plt", "shape::side(int)", S},
    {"symbol-version", "pthread_create@@GLIBC_2.34", "pthread_create", N},
    {"symbol-version", "memcpy@GLIBC_2.2.5", "memcpy", N},
    {"symbol-version", "SSL_read@@OPENSSL_3.0.0", "SSL_read", N},
    {"symbol-version", "xmlParse@@Base", "xmlParse", N},
    {"clone", "f.cold", "f", N},
    {"clone", "f.cold.12", "f", N},
    {"clone", "f.part.3", "f", N},
    {"clone", "f.isra.0", "f", N},
    {"clone", "f.constprop.2", "f", N},
    {"clone", "f.lto_priv.1", "f", N},
    {"clone", "f.llvm.1234567890", "f", N},
    {"clone", "f.clone.4", "f", N},
    {"clone", "f.localalias", "f", N},
    {"clone", "f.__uniq.123", "f", N},
    {"clone", "f.__uniq.123.llvm.456", "f", N},
    {"clone", "f.isra.0.constprop.1.part.2.cold", "f", N},
    {"clone", "ns::f(int) [clone .constprop.0] [clone .cold]", "ns::f(int)", N},
    {"clone", "ns::f(int) (.constprop.0) (.cold)", "ns::f(int)", N},
    {"clone", "schedule.isra.0", "schedule", K},
    {"jfr-module", "libjvm.so.G1CMTask::do_marking_step", "G1CMTask::do_marking_step", N},
    {"jfr-module", "libjvm.so.void Foo<int>::f", "void Foo<int>::f", N},
    {"jfr-module", "libz.so.1.2.11.deflate", "deflate", N},
    {"jfr-module", "libpthread-2.31.so.__write", "write", N},
    {"jfr-module", "vdso.__vdso_clock_gettime", "__vdso_clock_gettime", N},
    {"jfr-module", ".itable stub", "itable stub", N},
    {"jfr-module", "./lib/x86_64-linux-gnu/libc-2.31.so", "[unknown] libc-2.31.so", N},
    {"jfr-module", "./usr/lib/libz.so.1.2.11", "[unknown] libz.so", N},
    {"demangle", "_ZN5shape4sideEi", "shape::side(int)", N},
    {"demangle", "_ZN5shape4sideEi.constprop.0.cold", "shape::side(int)", N},
    {"demangle", "_ZN5shape4sideEi@plt", "shape::side(int)", S},
    {"demangle", "_ZN5shape4sideEi@@LIBSHAPE_1.0", "shape::side(int)", N},
    {"demangle", "_ZN5shape4edge17h0123456789abcdefE", "shape::edge", N},
    {"demangle", "_ZN5shape4edge17h0123456789abcdefE.llvm.123", "shape::edge", N},
    {"demangle", "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar", N},
    {"demangle", "_RNvNtCs1234_7mycrate3foo3bar.llvm.99", "mycrate::foo::bar", N},
    {"cxx-anonymous", "_GLOBAL__N_1::f(int)", "(anonymous namespace)::f(int)", N},
    {"cxx-anonymous", "{anonymous}::f(int)", "(anonymous namespace)::f(int)", N},
    {"demangle", "_ZN12_GLOBAL__N_11fEi", "(anonymous namespace)::f(int)", N},
    {"cxx-abi-tag", "ns::name[abi:cxx11]()", "ns::name()", N},
    {"cxx-abi-tag", "_ZN2ns4nameB5cxx11Ev", "ns::name()", N},
    {"cxx-abi-tag", "std::__1::f[abi:v160006](int)", "std::f(int)", N},
    {"cxx-inline-namespace", "std::__cxx11::list<int>::clear()", "std::list<int>::clear()", N},
    {"cxx-inline-namespace", "f(std::__1::vector<int>)", "f(std::vector<int>)", N},
    {"cxx-lambda", "f()::{lambda(int)#2}::operator()(int) const",
     "f()::{lambda}::operator()(int) const", N},
    {"cxx-lambda", "f()::{lambda(std::function<void ()>, {lambda()#1})#1}::operator()()",
     "f()::{lambda}::operator()()", N},
    {"cxx-lambda", "f()::'lambda0'(int)::operator()(int) const",
     "f()::{lambda}::operator()(int) const", N},
    {"cxx-lambda", "f()::'lambda'()::operator()() const", "f()::{lambda}::operator()() const", N},
    {"cxx-lambda", "f()::$_3::operator()(int) const", "f()::{lambda}::operator()(int) const", N},
    {"ordinal", "mycrate::f::{closure#1}", "mycrate::f::{closure}", N},
    {"ordinal", "mycrate::f::{{closure}}", "mycrate::f::{closure}", N},
    {"ordinal", "mycrate::{impl#3}::next", "mycrate::{impl}::next", N},
    {"ordinal", "f()::{unnamed type#1}::g()", "f()::{unnamed type}::g()", N},
    {"rust-escape", "_$LT$T$u20$as$u20$core..fmt..Debug$GT$::fmt", "<T as core::fmt::Debug>::fmt",
     N},
    {"rust-escape", "alloc::_$RF$$u5b$u8$u5d$$C$$BP$mut", "alloc::&[u8],*mut", N},
    {"rust-hash", "core::fmt::write::h0123456789abcdef", "core::fmt::write", N},
    {"rust-crate", "core[846817f741e54dfd]::fmt::write", "core::fmt::write", N},
    {"rust-crate", "<alloc[1f]::vec::Vec<u8>>::push", "<alloc::vec::Vec<u8>>::push", N},
    {"libc-alias", "__GI_strchr", "strchr", N},
    {"libc-public", "__libc_malloc", "malloc", N},
    {"libc-public", "__GI___libc_write", "write", N},
    {"libc-public", "___pthread_mutex_lock", "pthread_mutex_lock", N},
    {"libc-public", "__GI___pthread_mutex_unlock", "pthread_mutex_unlock", N},
    {"isa", "__memmove_evex_unaligned_erms", "memmove", N},
    {"isa", "__memcpy_avx_unaligned_erms", "memmove", N},
    {"isa", "memset_avx2_unaligned_erms", "memset", N},
    {"isa", "__strlen_avx2_rtm", "strlen", N},
    {"isa", "__strcasecmp_l_avx2", "strcasecmp_l", N},
    {"isa", "__memmove_chk_avx_unaligned_erms", "__memmove_chk", N},
    {"isa", "__memcpy_thunderx2", "memcpy", N},
    {"isa", "__strncmp_sse4_2", "strncmp", N},
    {"isa", "__sin_fma4", "sin", N},
    {"isa", "__expf_fma", "expf", N},
    {"syscall", "__x64_sys_read", "sys_read", K},
    {"syscall", "__arm64_sys_read", "sys_read", K},
    {"syscall", "__ia32_compat_sys_ioctl", "compat_sys_ioctl", K},
    {"bpf", "bpf_prog_6deef7357e7b4530_sd_fw_egress", "bpf_prog_sd_fw_egress", K},
    {"bpf", "bpf_prog_6deef7357e7b4530", "bpf_prog", K},
    {"libc-public", "__open64_nocancel", "open64", N},
    {"libc-public", "__clock_nanosleep_time64", "clock_nanosleep", N},
    {"thread", "[pool-3-thread-17 tid=812]", "[pool-#-thread-#]", M},
    {"thread", "[C2 CompilerThre0 tid=9]", "[C2 CompilerThre#]", M},
    {"thread", "[G1 Conc#3]", "[G1 Conc#]", M},
    {"thread", "[qtp1559783274-16 tid=4]", "[qtp#-#]", M},
    {"thread", "[grpc-default-worker-ELG-1-2]", "[grpc-default-worker-ELG-#-#]", M},
    {"thread", "[tid=123]", "[tid=#]", M},
    {"java-hidden", "Shop$$Lambda+0x0000000015040418.price", "Shop$$Lambda.price", J},
    {"java-hidden", "Shop$$Lambda/0x00007f99b4009000.price", "Shop$$Lambda.price", I},
    {"java-hidden", "Shop$$Lambda.0x00007f99b4009000.price", "Shop$$Lambda.price", J},
    {"java-hidden", "java.lang.invoke.LambdaForm$MH/0x0000000800c03000.invoke",
     "java.lang.invoke.LambdaForm$MH.invoke", J},
    {"java-hidden", "\xc3\xa9+0x0000000800c03000.invoke", "\xc3\xa9.invoke", J},
    {"java-lambda", "Shop$$Lambda$6+0x00007f99b4009000.handle", "Shop$$Lambda.handle", J},
    {"java-lambda", "a/b/Shop$$Lambda$14/1234567.run", "a/b/Shop$$Lambda.run", J},
    {"java-lambda", "a.b.Shop$$Lambda$14.1234567.run", "a.b.Shop$$Lambda.run", J},
    {"java-lambda", "Shop.lambda$main$1", "Shop.lambda$main", J},
    {"java-lambda", "a/Shop.lambda$null$12", "a/Shop.lambda$null", J},
    {"java-lambda", "Shop.lambda$main$1(ILjava/lang/String;)V",
     "Shop.lambda$main(ILjava/lang/String;)V", J},
    {"java-accessor", "jdk.internal.reflect.GeneratedMethodAccessor12.invoke",
     "jdk.internal.reflect.GeneratedMethodAccessor.invoke", J},
    {"java-accessor", "sun/reflect/GeneratedSerializationConstructorAccessor4.newInstance",
     "sun/reflect/GeneratedSerializationConstructorAccessor.newInstance", J},
    {"java-proxy", "jdk.proxy2.$Proxy33.price", "jdk.proxy2.$Proxy.price", J},
    {"java-proxy", "com/sun/proxy/$Proxy17.price", "com/sun/proxy/$Proxy.price", N},
    {"java-proxy", "com.shop.$Proxy17.price", "com.shop.$Proxy.price", J},
    {"java-generated", "com.shop.A$$EnhancerBySpringCGLIB$$1a2b3c4d.f",
     "com.shop.A$$EnhancerBySpringCGLIB.f", J},
    {"java-generated", "com.shop.A$ByteBuddy$x1Y2.f", "com.shop.A$ByteBuddy.f", J},
    {"java-generated", "com.shop.A$HibernateProxy$Ab12.f", "com.shop.A$HibernateProxy.f", J},
    {"java-generated", "com.shop.A$MockitoMock$123.f", "com.shop.A$MockitoMock.f", J},
    {"unknown", "0x7f12345678ab", "[unknown]", N},
    {"unknown", "[unknown] libfoo.so.1.2.3", "[unknown] libfoo.so", N},
};

/* Names that look like one of a rule's, and are not. */
static const char *const kept[] = {
    "libc.so.6",
    "liberty.soft.f",
    "com.so.Foo.bar",
    "libz.so.1",
    "...",

    "com.shop.Box.cold",
    "com/shop/Box.cold",
    "Box.cold.warm",
    "f (..)",
    "main",
    "ngx_http_gzip_body_filter",
    "f.resolver",
    "pkg.part",
    "a.b.c",
    ".cold",
    "@plt",
    "_[k]",
    "__GI_",
    "crc32_avx2",
    "inflate_fast_sse42",
    "str_avx",
    "memory_avx2_user_thing",
    "__libc_start_main",
    "__libc_start_call_main",
    "__strange",
    "operator new[](unsigned long)",
    "a[1]",
    "f(int*)[2]",
    "user@1host",
    "a b@c d",
    "x::hello",
    "x::h0123456789abcde",
    "0x",
    "0xyz",
    "cost$each",
    "f()::$_",
    "'lambda",
    "{lambda(",
    "{{",
    "std::__detail::f()",
    "mystd::__1::f()",
    "__x64_system",
    "bpf_prog_array_free",
    "[unknown]",
    "[unknown] libfoo.so",
    "_Z",
    "_Zfoo",
    "_R",
    "_GLOBAL__N_",
    "a+0x",
    "+0x12",
    "[clone .x]",
    "Foo$1.bar",
};

static uint64_t apply(const char *raw, enum fb_frame_kind kind, char *ret_text, size_t room)
{
    struct fb_buf out = {0};
    uint64_t fired = fb_name_canonical_rules(raw, strlen(raw), kind, &out);

    assert_in_range(out.len, 0, room - 1);
    memcpy(ret_text, out.data, out.len + 1);
    fb_buf_done(&out);
    return fired;
}

static size_t rule_index(const char *name)
{
    size_t count;
    const struct fb_name_rule *rules = fb_name_rules(&count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(rules[i].name, name) == 0)
            return i;
    fail_msg("no rule '%s'", name);
    return 0;
}

static void each_rule_gives_its_canonical_form(void **state)
{
    char text[300];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t fired = apply(rows[i].raw, rows[i].kind, text, sizeof text);
        bool changes = strcmp(rows[i].raw, rows[i].canonical) != 0;

        assert_string_equal(text, rows[i].canonical);
        if ((fired >> rule_index(rows[i].rule) & 1) != changes)
            fail_msg("'%s': rule '%s'", rows[i].raw, rows[i].rule);
    }
}

static void every_rule_has_a_row(void **state)
{
    size_t count;
    const struct fb_name_rule *rules = fb_name_rules(&count);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        bool found = false;

        for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++)
            found |= strcmp(rows[j].rule, rules[i].name) == 0;
        if (!found)
            fail_msg("no row for rule '%s'", rules[i].name);
    }
}

static void every_rule_is_documented(void **state)
{
    struct fb_buf page = {0};
    struct fb_err err;
    size_t count;
    const struct fb_name_rule *rules = fb_name_rules(&count);

    (void)state;
    if (fb_file_read(FB_FIXTURES "/../docs/names.md", &page, &err) != FB_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < count; i++) {
        char row[64];

        snprintf(row, sizeof row, "\n| `%s` |", rules[i].name);
        if (!strstr(page.data, row))
            fail_msg("docs/names.md has no row for '%s'", rules[i].name);
    }
    fb_buf_done(&page);
}

static void what_only_looks_like_it_is_kept(void **state)
{
    static const char *const java[] = {
        "com.shop.Box$1.run",
        "com.shop.A+0x12.f",
        "com.shop.A/0x1234567z.f",
        "com.shop.A.0x12345678g",
        "Shop$$Lambda.run",
        "Shop$$LambdaX$1.run",
        "Shop.lambda$main$x1",
        "Shop.lambda$1",
        "Shop.mylambda$main$1",
        "Shop.lambda$",
        "GeneratedMethodAccessor1x.f",
        "$Proxy1x.f",
        "com.shop.CGLIB.f",
        "/0x0123456789abcdef",
        "Shop$$Lambda$",
        "A$ByteBuddy",
    };
    char text[300];

    (void)state;
    for (size_t i = 0; i < sizeof java / sizeof java[0]; i++) {
        assert_int_equal(apply(java[i], J, text, sizeof text), 0);
        assert_string_equal(text, java[i]);
    }
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        assert_int_equal(apply(kept[i], N, text, sizeof text), 0);
        assert_string_equal(text, kept[i]);
    }
}

static void a_canonical_name_is_its_own(void **state)
{
    char once[300], twice[300];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        apply(rows[i].raw, rows[i].kind, once, sizeof once);
        assert_int_equal(apply(once, rows[i].kind, twice, sizeof twice), 0);
        assert_string_equal(once, twice);
    }
}

static void names_of_other_runtimes_are_kept(void **state)
{
    static const enum fb_frame_kind others[] = {FB_FRAME_JAVA, FB_FRAME_JS, FB_FRAME_JIT,
                                                FB_FRAME_MARK};
    char text[300];

    (void)state;
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            if (rows[i].kind == others[k] ||
                (others[k] == FB_FRAME_JAVA && strncmp(rows[i].rule, "java-", 5) == 0))
                continue;
            assert_int_equal(apply(rows[i].raw, others[k], text, sizeof text), 0);
            assert_string_equal(text, rows[i].raw);
        }
    }
}

static void mangled_and_demangled_agree(void **state)
{
    static const char *const names[] = {
        "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm",
        "_ZZN5shape4sideEiENKUliE0_clEi",
        "_ZN12_GLOBAL__N_14WorkC2Ev.cold",
        "_ZN4core3fmt5write17h0123456789abcdefE",
        "_RNCNvC7mycrate4mains_0B3_",
    };
    char a[400], b[400];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct fb_buf plain = {0};

        assert_true(fb_name_demangle(names[i], &plain));
        apply(names[i], N, a, sizeof a);
        apply(plain.data, N, b, sizeof b);
        assert_string_equal(a, b);
        fb_buf_done(&plain);
    }
}

static void bytes_that_are_no_name_pass_through(void **state)
{
    static char big[40000];
    struct fb_buf out = {0};

    (void)state;
    fb_name_canonical("", 0, N, &out);
    assert_int_equal(out.len, 0);
    fb_name_canonical("a\0.cold", 7, N, &out);
    assert_memory_equal(out.data, "a\0.cold", 7);
    memset(big, 'x', sizeof big);
    memcpy(big + sizeof big - 5, ".cold", 5);
    out.len = 0;
    fb_name_canonical(big, sizeof big, N, &out);
    assert_int_equal(out.len, sizeof big);
    fb_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_gives_its_canonical_form),
        cmocka_unit_test(every_rule_has_a_row),
        cmocka_unit_test(every_rule_is_documented),
        cmocka_unit_test(what_only_looks_like_it_is_kept),
        cmocka_unit_test(a_canonical_name_is_its_own),
        cmocka_unit_test(names_of_other_runtimes_are_kept),
        cmocka_unit_test(mangled_and_demangled_agree),
        cmocka_unit_test(bytes_that_are_no_name_pass_through),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
