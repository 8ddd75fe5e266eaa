/* wrap_rights.c - the calls that change a process's rights, root or namespaces.  See helper.h for
 * why our own thread must not be there meanwhile.  initgroups() calls setgroups() inside the C
 * library, past any wrapper. */
#include <grp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

#include "sampler/export.h"
#include "sampler/preload.h"
#include "sampler/real.h"

FB_EXPORT int setuid(uid_t uid)
{
    bool paused = fb_preload_rights_begin();

    return fb_preload_rights_end(paused, fb_real.setuid(uid));
}

FB_EXPORT int seteuid(uid_t uid)
{
    bool paused = fb_preload_rights_begin();

    return fb_preload_rights_end(paused, fb_real.seteuid(uid));
}

FB_EXPORT int setreuid(uid_t ruid, uid_t euid)
{
    bool paused = fb_preload_rights_begin();

    return fb_preload_rights_end(paused, fb_real.setreuid(ruid, euid));
}

FB_EXPORT int setresuid(uid_t ruid, uid_t euid, uid_t suid)
{
    bool paused = fb_preload_rights_begin();

    return fb_preload_rights_end(paused, fb_real.setresuid(ruid, euid, suid));
}

FB_EXPORT int setgid(gid_t gid)
{
    bool paused = fb_preload_rights_begin();

    return fb_preload_rights_end(paused, fb_real.setgid(gid));
}

FB_EXPORT int setegid(gid_t gid)
{
    bool paused = fb_preload_rights_begin();

    return fb_preload_rights_end(paused, fb_real.setegid(gid));
}

FB_EXPORT int setregid(gid_t rgid, gid_t egid)
{
    bool paused = fb_preload_rights_begin();

    return fb_preload_rights_end(paused, fb_real.setregid(rgid, egid));
}

FB_EXPORT int setresgid(gid_t rgid, gid_t egid, gid_t sgid)
{
    bool paused = fb_preload_rights_begin();

    return fb_preload_rights_end(paused, fb_real.setresgid(rgid, egid, sgid));
}

FB_EXPORT int setgroups(size_t n, const gid_t *groups)
{
    bool paused = fb_preload_rights_begin();

    return fb_preload_rights_end(paused, fb_real.setgroups(n, groups));
}

FB_EXPORT int initgroups(const char *user, gid_t group)
{
    bool paused = fb_preload_rights_begin();

    return fb_preload_rights_end(paused, fb_real.initgroups(user, group));
}

FB_EXPORT int unshare(int flags)
{
    bool paused = fb_preload_rights_begin();

    return fb_preload_rights_end(paused, fb_real.unshare(flags));
}

FB_EXPORT int setns(int fd, int type)
{
    bool paused = fb_preload_rights_begin();

    return fb_preload_rights_end(paused, fb_real.setns(fd, type));
}

FB_EXPORT int chroot(const char *path)
{
    bool paused = fb_preload_rights_begin();

    return fb_preload_rights_end(paused, fb_real.chroot(path));
}
