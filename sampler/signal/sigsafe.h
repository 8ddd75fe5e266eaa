/* sigsafe.h - include LAST in every file of sampler/signal.
 *
 * Everything in this folder may run in a signal handler, at any instruction of
 * any thread of a program that is not ours.  So: no heap, no locks, no stdio,
 * no loader, no thread-local storage that is made on first use, no calls
 * through pointers, every loop bounded by a constant or by an argument, errno
 * unchanged on return.  The names below do not compile any more once this file
 * is included; what slips through is found in the objects by
 * tests/checks/signal_safe.py. */
#ifndef FB_SAMPLER_SIGNAL_SIGSAFE_H
#define FB_SAMPLER_SIGNAL_SIGSAFE_H

/* Thread-local data reached without a call (the lazy model may allocate). */
#define FB_SIGNAL_TLS _Thread_local __attribute__((tls_model("initial-exec")))

#pragma GCC poison malloc calloc realloc free posix_memalign aligned_alloc strdup
#pragma GCC poison printf fprintf dprintf snprintf sprintf vsnprintf puts perror strerror
#pragma GCC poison pthread_mutex_lock pthread_mutex_unlock pthread_cond_wait pthread_once
#pragma GCC poison pthread_getspecific pthread_setspecific pthread_self sem_wait
#pragma GCC poison dlopen dlclose dlsym dladdr dl_iterate_phdr
#pragma GCC poison exit abort assert atexit longjmp siglongjmp getenv
#pragma GCC poison qsort bsearch backtrace

#endif
