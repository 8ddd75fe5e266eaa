/* lazy_tls.c - what signal_safe.py must refuse: thread-local storage that is made on first use. */
static _Thread_local int slots[64];
int *bad_slot(int i);

int *bad_slot(int i)
{
    return &slots[i];
}
