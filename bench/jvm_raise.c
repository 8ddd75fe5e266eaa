/* jvm_raise.c - the native half of bench/Depth.java: what a tick costs below Java frames.
 *
 * As bench_raise.c, the calling thread sends itself the signal of ITIMER_PROF, so that a profiler
 * that uses that clock walks: this function, the wrapper of a native method, Java's frames, the
 * JVM's own below them. */
#include <jni.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void on_empty(int signo)
{
    (void)signo;
}

JNIEXPORT void JNICALL Java_Depth_empty(JNIEnv *env, jclass class);
JNIEXPORT jdouble JNICALL Java_Depth_raise(JNIEnv *env, jclass class, jint count);

/* The floor: a handler that does nothing. */
JNIEXPORT void JNICALL Java_Depth_empty(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    signal(SIGPROF, on_empty);
}

/* CPU nanoseconds of one of `count` signals. */
JNIEXPORT jdouble JNICALL Java_Depth_raise(JNIEnv *env, jclass class, jint count)
{
    long pid = getpid();
    long tid = syscall(SYS_gettid);
    siginfo_t info;
    double start;

    (void)env;
    (void)class;
    memset(&info, 0, sizeof info);
    info.si_signo = SIGPROF;
    info.si_code = SI_KERNEL;
    start = cpu_ns();
    for (jint i = 0; i < count; i++)
        syscall(SYS_rt_tgsigqueueinfo, pid, tid, SIGPROF, &info);
    return (cpu_ns() - start) / count;
}
