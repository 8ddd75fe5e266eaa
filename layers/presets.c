/* A preset is one file in layers/presets/, its name in CMakeLists.txt and one row here. */
#include "layers/presets.h"

#include <string.h>

#define EMBEDDED(name)                                                                             \
    extern const unsigned char fb_preset_##name[];                                                 \
    extern const unsigned long fb_preset_##name##_size;

EMBEDDED(envoy)
EMBEDDED(go)
EMBEDDED(jvm)
EMBEDDED(kernel)
EMBEDDED(kernel_only)
EMBEDDED(native)
EMBEDDED(nginx)
EMBEDDED(node)
EMBEDDED(python)
EMBEDDED(rust)

#define TEXT(name) fb_preset_##name, &fb_preset_##name##_size

const struct fb_layers_preset fb_layers_presets[] = {
    {"native", "C and C++ servers: system calls, transport, codecs, libc, kernel", TEXT(native)},
    {"jvm", "Java, Clojure, Kotlin, Scala: libraries, JIT, GC, VM runtime, stubs", TEXT(jvm)},
    {"node", "Node.js: JavaScript by origin, V8's compilers, collector and runtime", TEXT(node)},
    {"go", "Go: collector, scheduler, allocator, standard library, gRPC", TEXT(go)},
    {"python", "Python: interpreter, objects, collector, frames by file, extensions", TEXT(python)},
    {"rust", "Rust: std, async runtime, HTTP, serde, your crates", TEXT(rust)},
    {"nginx", "nginx and its modules: events, phases, filters, upstreams", TEXT(nginx)},
    {"envoy", "Envoy: connection manager, codecs, router, filters, stats", TEXT(envoy)},
    {"kernel", "the Linux kernel by subsystem, under any program", TEXT(kernel)},
    {"kernel-only", "the same without user frames: to include before another", TEXT(kernel_only)},
    {NULL, NULL, NULL, NULL},
};

const struct fb_layers_preset *fb_layers_preset_find(const char *name)
{
    for (const struct fb_layers_preset *p = fb_layers_presets; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}
