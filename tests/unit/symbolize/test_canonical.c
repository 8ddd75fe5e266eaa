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

#define N  FB_FRAME_NATIVE
#define K  FB_FRAME_KERNEL
#define M  FB_FRAME_MARK
#define S  FB_FRAME_STUB
#define J  FB_FRAME_JAVA
#define I  FB_FRAME_INLINED
#define T  FB_FRAME_JIT
#define JS FB_FRAME_JS

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
    {"java-lambda", "a/b/Shop$$Lambda$14/1234567.run", "a.b.Shop$$Lambda.run", J},
    {"java-lambda", "a.b.Shop$$Lambda$14.1234567.run", "a.b.Shop$$Lambda.run", J},
    {"java-lambda", "Shop.lambda$main$1", "Shop.lambda$main", J},
    {"java-lambda", "a/Shop.lambda$null$12", "a.Shop.lambda$null", J},
    {"java-lambda", "Shop.lambda$main$1(ILjava/lang/String;)V", "Shop.lambda$main", J},
    {"java-accessor", "jdk.internal.reflect.GeneratedMethodAccessor12.invoke",
     "jdk.internal.reflect.GeneratedMethodAccessor.invoke", J},
    {"java-accessor", "sun/reflect/GeneratedSerializationConstructorAccessor4.newInstance",
     "jdk.internal.reflect.GeneratedSerializationConstructorAccessor.newInstance", J},
    {"java-proxy", "jdk.proxy2.$Proxy33.price", "$Proxy.price", J},
    {"java-proxy", "com/sun/proxy/$Proxy17.price", "$Proxy.price", N},
    {"java-proxy", "com.shop.$Proxy17.price", "com.shop.$Proxy.price", J},
    {"java-generated", "com.shop.A$$EnhancerBySpringCGLIB$$1a2b3c4d.f",
     "com.shop.A$$EnhancerBySpringCGLIB.f", J},
    {"java-generated", "com.shop.A$ByteBuddy$x1Y2.f", "com.shop.A$ByteBuddy.f", J},
    {"java-generated", "com.shop.A$HibernateProxy$Ab12.f", "com.shop.A$HibernateProxy.f", J},
    {"java-generated", "com.shop.A$MockitoMock$123.f", "com.shop.A$MockitoMock.f", J},
    {"inlined", "com.shop.Box.price_[i]", "com.shop.Box.price", J},
    {"tier", "com.shop.Box.price_[j]", "com.shop.Box.price", J},
    {"tier", "com.shop.Box.price_[0]", "com.shop.Box.price", N},
    {"tier", "com.shop.Box.price_[1]", "com.shop.Box.price", J},
    {"clone", "f.lto_priv.0.cold", "f", N},
    {"clone", "f.123.cold", "f.123", N},
    {"demangle", "_D4core4sync5mutex5Mutex4lockMFNbNiNfZv", "core.sync.mutex.Mutex.lock", N},
    {"java-form", "java.lang.invoke.LambdaForm$MH012.invoke",
     "java.lang.invoke.LambdaForm$MH.invoke", J},
    {"java-form", "java.lang.invoke.LambdaForm$DMH/1718322084.invokeStatic",
     "java.lang.invoke.LambdaForm$DMH.invokeStatic", J},
    {"java-form", "java/lang/invoke/LambdaForm$BMH003/172.reinvoke",
     "java.lang.invoke.LambdaForm$BMH.reinvoke", N},
    {"java-reflect", "sun.reflect.DelegatingMethodAccessorImpl.invoke",
     "jdk.internal.reflect.DelegatingMethodAccessorImpl.invoke", J},
    {"java-reflect", "sun/reflect/GeneratedMethodAccessor7.invoke",
     "jdk.internal.reflect.GeneratedMethodAccessor.invoke", N},
    {"java-proxy", "com.sun.proxy.$Proxy.price", "$Proxy.price", J},
    {"java-proxy", "$Proxy9.price", "$Proxy.price", J},
    {"java-proxy", "boolean jdk.proxy12.$Proxy4.equals(java.lang.Object)", "$Proxy.equals", N},
    {"java-generated", "com.shop.A$$SpringCGLIB$$0.f", "com.shop.A$$SpringCGLIB.f", J},
    {"java-generated", "com.shop.A$$FastClassBySpringCGLIB$$9f8e7d6c.invoke",
     "com.shop.A$$FastClassBySpringCGLIB.invoke", J},
    {"java-generated", "com.shop.A_$$_jvst1a2_0.f", "com.shop.A_$$_jvst.f", J},
    {"java-generated", "com.shop.A$$EnhancerByGuice$$1a2b3c.f", "com.shop.A$$EnhancerByGuice.f", J},
    {"java-path", "java/lang/String.hashCode", "java.lang.String.hashCode", J},
    {"java-path", "java/lang/String.hashCode", "java.lang.String.hashCode", N},
    {"java-path", "java.lang.String::hashCode", "java.lang.String.hashCode", N},
    {"java-path", "Ljava/lang/String;::hashCode", "java.lang.String.hashCode", T},
    {"java-path", "a/b.c", "a.b.c", J},
    {"java-path", "com/shop/Box$Lid.open", "com.shop.Box$Lid.open", N},
    {"java-signature", "java.lang.String.charAt(I)C", "java.lang.String.charAt", J},
    {"java-signature", "com.shop.Box.<init>(ILjava/lang/String;[[D)V", "com.shop.Box.<init>", J},
    {"java-signature", "void com.shop.Box.put(java.lang.String, int[])", "com.shop.Box.put", T},
    {"java-signature", "com.shop.Box.price()", "com.shop.Box.price", N},
    {"java-stub", "StubRoutines (2)", "StubRoutines", N},
    {"java-stub", "RuntimeStub - _new_array_Java 0x00007f0123456789]",
     "RuntimeStub - _new_array_Java", S},
    {"java-stub", "Interpreter (0x00007f01)", "Interpreter", N},
    {"clojure", "my.ns$handle.invoke", "my.ns/handle", J},
    {"clojure", "my.ns$handle.invokeStatic", "my.ns/handle", J},
    {"clojure", "my/other_ns$swap_BANG_.doInvoke", "my.other-ns/swap!", N},
    {"clojure", "user$a__GT_b_QMARK_.invokePrim", "user/a->b?", J},
    {"clojure", "clojure.core$_STAR_.applyTo", "clojure.core/*", J},
    {"clojure", "my.ns.proxy$java.io.Writer$ff19274a.write", "my.ns/proxy/write", J},
    {"clojure", "my/ns/proxy$java/io/Writer$ff19274ae.write", "my.ns/proxy/write", J},
    {"clojure-number", "my.ns$fn__1234.invoke", "my.ns/fn", J},
    {"clojure-number", "my.ns$f$fn__12.invokeStatic", "my.ns/f/fn", J},
    {"clojure-number", "my.ns$eval123$fn__124.invoke", "my.ns/eval/fn", J},
    {"clojure-number", "my.ns$reify__99.run", "my.ns/reify/run", J},
    {"clojure-number", "names$eval200$reify__201.priced_QMARK_", "names/eval/reify/priced?", J},
    {"clojure-number", "my.ns$f$G__12__34.invoke", "my.ns/f/G", J},
    {"clojure-number", "user$eval17.invoke", "user/eval", J},
    {"scala-anonymous", "com.shop.Box$.$anonfun$total$1", "com.shop.Box.total/$anonfun", J},
    {"scala-anonymous", "com.shop.Box.$anonfun$total$12$adapted", "com.shop.Box.total/$anonfun", J},
    {"scala-anonymous", "com.shop.Box$$anonfun$total$1.apply$mcI$sp", "com.shop.Box.total/$anonfun",
     J},
    {"scala-anonymous", "com.shop.Box$$anonfun$total$1$$anonfun$apply$2.apply",
     "com.shop.Box.total/$anonfun/$anonfun", J},
    {"scala-anonymous", "com.shop.Box$$anon$11.hasNext", "com.shop.Box/$anon.hasNext", J},
    {"scala-object", "com.shop.Box$.apply", "com.shop.Box.apply", J},
    {"scala-object", "com.shop.Meters$.plus$extension", "com.shop.Meters.plus", J},
    {"scala-object", "com.shop.Meters.add$extension1", "com.shop.Meters.add", J},
    {"scala-escape", "com.shop.Box.$plus$plus", "com.shop.Box.++", J},
    {"scala-escape", "scala.collection.immutable.$colon$colon.head",
     "scala.collection.immutable.::.head", J},
    {"scala-escape", "com.shop.Box.total_$eq", "com.shop.Box.total_=", J},
    {"scala-escape", "com.shop.Box.a$u2192b",
     "com.shop.Box.a\xe2\x86\x92"
     "b",
     J},
    {"kotlin-lambda", "com.shop.MainKt$total$1.invoke", "com.shop.MainKt.total/\xce\xbb", J},
    {"kotlin-lambda", "com.shop.MainKt$total$1$2.invoke", "com.shop.MainKt.total/\xce\xbb", J},
    {"kotlin-lambda", "com.shop.MainKt$total$1.invokeSuspend",
     "com.shop.MainKt.total.invokeSuspend", J},
    {"kotlin-lambda", "com.shop.MainKt$total$1.compare", "com.shop.MainKt.total/\xce\xbb.compare",
     J},
    {"kotlin-lambda", "com.shop.MainKt.total$lambda$0", "com.shop.MainKt.total/\xce\xbb", J},
    {"kotlin-lambda", "com.shop.MainKt.total$lambda$3$lambda$1", "com.shop.MainKt.total/\xce\xbb",
     J},
    {"kotlin", "com.shop.Box$Companion.of", "com.shop.Box.Companion.of", J},
    {"kotlin", "com.shop.Box.put$default", "com.shop.Box.put", J},
    {"kotlin", "com.shop.Box.put-IoAF18A", "com.shop.Box.put", J},
    {"kotlin", "com.shop.Box.put-IoAF18A$default", "com.shop.Box.put", J},
    {"go-closure", "main.serve.func1", "main.serve.func", N},
    {"go-closure", "main.serve.func1.2", "main.serve.func", N},
    {"go-closure", "net/http.(*Server).Serve.func3.1", "net/http.(*Server).Serve.func", N},
    {"go-closure", "main.glob..func7", "main.glob..func", N},
    {"go-closure", "main.serve.gowrap1", "main.serve.gowrap", N},
    {"go-closure", "main.serve.deferwrap2", "main.serve.deferwrap", N},
    {"go-closure", "main.walk-range1", "main.walk-range", N},
    {"go-closure", "main.init.0", "main.init", N},
    {"go-suffix", "net/http.(*conn).serve-fm", "net/http.(*conn).serve", N},
    {"go-suffix", "runtime.memmove.abi0", "runtime.memmove", N},
    {"go-suffix", "runtime.memmove.abiinternal", "runtime.memmove", N},
    {"go-version", "github.com/x/y@v1.2.3/z.F", "github.com/x/y/z.F", N},
    {"go-version", "github.com/x/y/v2@v2.0.0-rc.1+dirty/z.F", "github.com/x/y/v2/z.F", N},
    {"go-version", "gopkg.in/yaml%2ev3.Unmarshal", "gopkg.in/yaml.v3.Unmarshal", N},
    {"js-tier", "LazyCompile:*render /srv/app.js:12:34", "render /srv/app.js", T},
    {"js-tier", "Function:~render /srv/app.js:12", "render /srv/app.js", N},
    {"js-tier", "JS:^render file:///srv/app.mjs:1:2", "render file:///srv/app.mjs", T},
    {"js-tier", "*render", "render", JS},
    {"js-tier", "+render", "render", JS},
    {"line", "(anonymous) file.js:12:34", "(anonymous) file.js", JS},
    {"line", "emit node:events:508:28", "emit node:events", JS},
    {"line", "handle (/srv/x.py:12)", "handle (/srv/x.py)", N},
    {"line", "handle - /srv/x.rb:12", "handle - /srv/x.rb", N},
    {"js-hash", "render /static/main.3f9a1c.js", "render /static/main.js", JS},
    {"js-hash", "render /static/chunk-3f9a1c2b.mjs:1:2", "render /static/chunk.mjs", JS},
    {"js-hash", "render main.3f9a1c.js vendor.00ff11aa.js", "render main.js vendor.js", JS},
    {"python-path", "get (/srv/venv/lib/python3.11/site-packages/django/db.py:12)",
     "get (/site-packages/django/db.py)", N},
    {"python-path", "py::loads:/usr/lib/python3.11/json/decoder.py",
     "py::loads:/lib/python3/json/decoder.py", T},
    {"python-path", "get (/usr/lib/python3/dist-packages/yaml/a.py)",
     "get (/dist-packages/yaml/a.py)", N},
    {"ruby-block", "block (2 levels) in map", "block in map", N},
    {"ruby-block", "rescue in block (3 levels) in call", "rescue in block in call", N},
    {"ruby-block", "block (12 levels) in <top (required)>", "block in <top (required)>", N},
    {"dotnet-tier", "Shop.Box.Price[Tier1]", "Shop.Box.Price", N},
    {"dotnet-tier", "Shop.Box.Price [OptimizedTier1]", "Shop.Box.Price", T},
    {"dotnet-tier", "Shop.Box.Price [PreJIT]", "Shop.Box.Price", N},
    {"dotnet-generated", "Shop.Box.<Main>b__0_1", "Shop.Box.Main/\xce\xbb", N},
    {"dotnet-generated", "Shop.Box+<>c.<Main>b__0_1", "Shop.Box.Main/\xce\xbb", N},
    {"dotnet-generated", "Shop.Box+<>c__DisplayClass3_0.<Main>b__1", "Shop.Box.Main/\xce\xbb", N},
    {"dotnet-generated", "Shop.Box+<Run>d__5.MoveNext", "Shop.Box+Run/async", N},
    {"dotnet-generated", "Shop.Box.<Main>g__Local|0_1", "Shop.Box.Main/Local", N},
    {"native-image", "String_hashCode_0123456789abcdef0123456789abcdef01234567", "String.hashCode",
     N},
    {"native-image",
     "IsolateEnterStub__Main__run__0123456789abcdef0123456789abcdef01234567__"
     "89abcdef0123456789abcdef0123456789abcdef",
     "IsolateEnterStub__Main__run", N},
    {"native-image", "Big_Box_of_0123456789abcdef0123456789abcdef01234567", "Big_Box_of", N},
    {"unknown", "[unknown] libfoo.so (deleted)", "[unknown] libfoo.so", N},
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
    /* paths, and names with '/', that are no class's */
    "net/http.HandlerFunc.ServeHTTP",
    "a/b.c",
    "/usr/lib/x.so",
    "std::string::size",
    "ns::Box::price",
    "a.b::c",
    "f(int)",
    "operator()(int)",
    "Box.price(int&)",
    "Box.price(std::string)",
    "StubRoutines (initial)",
    "Interpreter",
    "my.Ns$handle.invoke",
    "my.ns$1.invoke",
    "my.ns$handle.run",
    "a/b-12",
    "com.shop.Box$1.run",
    "com.shop.Box$1Local.run",
    "com.shop.Box.a_b",
    "com.shop.$anonfun",
    "cost$default_",
    "com.shop.Box.put-handler",
    "com.shop.Box.box-impl",
    "Main.func1",
    "main.func1",
    "main.serve.func1x",
    "main.serve-fmt",
    "x/y@v/z.F",
    "LazyCompile:",
    "f a:12",
    "f /srv/app.js",
    "main.abcdef.js",
    "main.12.js",
    "py::f:x.py",
    "block (levels) in m",
    "f[Tier2]",
    "<Main>b__",
    "<>c",
    "operator<",
    "String_hashCode_0123456789abcdef",
    "[unknown] (deleted)x",
};

static uint64_t apply(const char *raw, enum fb_frame_kind kind, char *ret_text, size_t room)
{
    struct fb_buf out = {0};
    uint64_t fired = fb_name_canonical_by(FB_NAME_RULES_ALL, raw, strlen(raw), kind, &out);

    assert_in_range(out.len, 0, room - 1);
    memcpy(ret_text, out.data, out.len + 1);
    fb_buf_done(&out);
    return fired;
}

static void each_rule_gives_its_canonical_form(void **state)
{
    char text[300];
    size_t failed = 0;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        uint64_t fired = apply(row->raw, row->kind, text, sizeof text);

        if (strcmp(text, row->canonical) == 0 && (fired & fb_name_rules_named(row->rule)) != 0)
            continue;
        print_error("rule '%s': '%s' became '%s', '%s' was expected\n", row->rule, row->raw, text,
                    row->canonical);
        failed++;
    }
    assert_int_equal(failed, 0);
}

static void every_rule_has_a_row(void **state)
{
    size_t count;
    const struct fb_name_rule *rules = fb_name_rule_table(&count);

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
    const struct fb_name_rule *rules = fb_name_rule_table(&count);

    (void)state;
    if (fb_file_read(FB_FIXTURES "/../docs/names.md", &page, &err) != FB_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < count; i++) {
        char row[64];

        snprintf(row, sizeof row, "\n| `%s` %s|", rules[i].name, rules[i].merges ? "* " : "");
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
        "java.lang.invoke.LambdaForm$MHx.f",
        "sun.reflect.annotation.AnnotationParser.parse",
        "sunny.reflect.Box.f",
        "jdk.proxyx.$ProxyOf.f",
        "server/handler",
        "clojure.core/map",
        "clojure.core$hash.run",
        "com.shop.Box$at.run",
        "my-ns/handle-it!",
        "$Proxy1x.f",
        "com.shop.CGLIB.f",
        "/0x0123456789abcdef",
        "Shop$$Lambda$",
        "A$ByteBuddy",
    };
    char text[300];

    (void)state;
    for (size_t i = 0; i < sizeof java / sizeof java[0]; i++) {
        if (apply(java[i], J, text, sizeof text) != 0)
            fail_msg("'%s' became '%s'", java[i], text);
        assert_string_equal(text, java[i]);
    }
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        if (apply(kept[i], N, text, sizeof text) != 0)
            fail_msg("'%s' became '%s'", kept[i], text);
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

/* A rule of C++ does not touch a method of JavaScript, nor one of Java the name of a thread. */
static void rules_apply_to_their_kinds_only(void **state)
{
    size_t count;
    const struct fb_name_rule *rules = fb_name_rule_table(&count);
    struct fb_buf out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t kind = 0; kind < FB_FRAME_KIND_COUNT; kind++) {
            uint64_t fired =
                fb_name_canonical_by(FB_NAME_RULES_ALL, rows[i].raw, strlen(rows[i].raw),
                                     (enum fb_frame_kind)kind, &out);

            for (size_t r = 0; r < count; r++)
                if ((fired >> r & 1) && !(rules[r].kinds >> kind & 1))
                    fail_msg("'%s': rule '%s' fired for kind %zu", rows[i].raw, rules[r].name,
                             kind);
            out.len = 0;
        }
    }
    fb_buf_done(&out);
}

/* Without its rule a name stays, as far as that rule alone changed it. */
static void a_rule_that_is_off_does_nothing(void **state)
{
    struct fb_buf out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fb_name_rules off = fb_name_rules_named(rows[i].rule);
        fb_name_rules fired = fb_name_canonical_by(FB_NAME_RULES_ALL & ~off, rows[i].raw,
                                                   strlen(rows[i].raw), rows[i].kind, &out);

        assert_true(off != 0);
        assert_true((fired & off) == 0);
        out.len = 0;
        assert_true(
            (fb_name_canonical_by(0, rows[i].raw, strlen(rows[i].raw), rows[i].kind, &out)) == 0);
        assert_string_equal(out.data, rows[i].raw);
        out.len = 0;
    }
    assert_true(fb_name_rules_named("no such rule") == 0);
    fb_buf_done(&out);
}

/* Whatever happened to a name on its way, what comes out is a fixed point. */
static void check_hostile(const char *raw, size_t len, enum fb_frame_kind kind)
{
    struct fb_buf once = {0}, twice = {0};

    fb_name_canonical_by(FB_NAME_RULES_ALL, raw, len, kind, &once);
    fb_name_canonical_by(FB_NAME_RULES_ALL, once.data ? once.data : "", once.len, kind, &twice);
    if (len > 0 &&
        (once.len == 0 || once.len != twice.len || memcmp(once.data, twice.data, once.len) != 0))
        fail_msg("'%.*s' is '%s', then '%s'", (int)(len > 200 ? 200 : len), raw,
                 once.data ? once.data : "", twice.data ? twice.data : "");
    fb_buf_done(&once);
    fb_buf_done(&twice);
}

static void names_cut_and_flipped_have_a_fixed_point(void **state)
{
    static const char marks[] = "$_.:/<>{}[]()@*~ 0a#-\x80";
    char text[200];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t len = strlen(rows[i].raw);

        for (size_t n = 0; n <= len; n++) {
            check_hostile(rows[i].raw, n, rows[i].kind);
            check_hostile(rows[i].raw + n, len - n, rows[i].kind);
        }
        for (size_t at = 0; at < len; at++) {
            memcpy(text, rows[i].raw, len);
            for (size_t m = 0; m + 1 < sizeof marks; m++) {
                text[at] = marks[m];
                check_hostile(text, len, rows[i].kind);
            }
        }
    }
}

/* As long as rules look at a name, and longer: were a rule's cost the square of the length, this
 * would take minutes. */
static void long_hostile_names_cost_their_length(void **state)
{
    static const char *const units[] = {"(",
                                        "<",
                                        "{",
                                        "[",
                                        "{lambda(",
                                        "'lambda'(",
                                        " [clone .a",
                                        ".cold",
                                        "$$anonfun$a$1",
                                        "$a$1",
                                        "::h",
                                        "_$LT$",
                                        "{{a",
                                        "$fn__1",
                                        "--1/",
                                        "/eval12",
                                        ".func1",
                                        "@v1/",
                                        "%2e",
                                        "$u2192",
                                        "<a>b__0",
                                        "0x12345678",
                                        "$Proxy",
                                        "lambda$a$1",
                                        "$ff",
                                        "a.b/",
                                        "js.",
                                        "std::__1::",
                                        "[abi:a",
                                        ".isra.0",
                                        " (.a",
                                        "_GLOBAL__N_1",
                                        "#1}",
                                        "$lambda$0",
                                        "block (1 "};
    static char text[100000];

    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t n = strlen(units[i]);

        for (size_t at = 0; at < sizeof text; at++)
            text[at] = units[i][at % n];
        text[0] = 'a';
        for (size_t kind = 0; kind < FB_FRAME_KIND_COUNT; kind++) {
            check_hostile(text, 16 << 10, (enum fb_frame_kind)kind);
            check_hostile(text, sizeof text, (enum fb_frame_kind)kind);
        }
    }
}

static void check_attributes(const char *raw, enum fb_frame_kind kind, const char *expected)
{
    struct fb_buf name = {0}, out = {0};
    fb_name_rules fired = fb_name_canonical_by(FB_NAME_RULES_ALL, raw, strlen(raw), kind, &name);

    fb_name_attributes(raw, strlen(raw), fired, &out);
    assert_string_equal(out.data ? out.data : "", expected);
    fb_buf_done(&name);
    fb_buf_done(&out);
}

static void what_is_cut_and_matters_is_an_attribute(void **state)
{
    (void)state;
    check_attributes("f", N, "");
    check_attributes("f.part.0.cold", N, "cold, part");
    check_attributes("_ZN5shape4sideEi.isra.0@plt", S, "plt, isra");
    check_attributes("__memmove_evex", N, "isa");
    check_attributes("my.ns$f.invokeStatic", J, "static");
    check_attributes("my.ns$f.invoke", J, "");
    check_attributes("LazyCompile:*f a.js:1:2", T, "optimized");
    check_attributes("~f", JS, "interpreted");
    check_attributes("f [OptimizedTier1]", T, "tier 1");
    check_attributes("com.shop.Box.coldStart", J, "");
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
        cmocka_unit_test(rules_apply_to_their_kinds_only),
        cmocka_unit_test(a_rule_that_is_off_does_nothing),
        cmocka_unit_test(names_cut_and_flipped_have_a_fixed_point),
        cmocka_unit_test(long_hostile_names_cost_their_length),
        cmocka_unit_test(what_is_cut_and_matters_is_an_attribute),
        cmocka_unit_test(mangled_and_demangled_agree),
        cmocka_unit_test(bytes_that_are_no_name_pass_through),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
