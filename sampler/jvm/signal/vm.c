/* vm.c - see vm.h. */
#include "sampler/jvm/signal/vm.h"

#include "sampler/signal/sigsafe.h"

struct fb_jvm fb_jvm;
_Atomic bool fb_jvm_is_active;
_Thread_local bool fb_jvm_thread_open __attribute__((tls_model("initial-exec")));

void fb_jvm_activate(bool active)
{
    atomic_store_explicit(&fb_jvm_is_active, active, memory_order_release);
}
