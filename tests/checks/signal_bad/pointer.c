/* pointer.c - what signal_safe.py must refuse: a call through a pointer. */
extern void (*bad_hook)(int);
void (*bad_hook)(int);
void bad_fire(int n);

void bad_fire(int n)
{
    bad_hook(n);
    bad_hook(n + 1);
}
