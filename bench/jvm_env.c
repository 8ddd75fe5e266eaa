/* jvm_env.c - an agent that makes a JVMTI environment and nothing else: what that alone costs. */
#include <jvmti.h>

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiEnv *env;

    (void)options;
    (void)reserved;
    return (*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2);
}
