#ifndef KITH_CDNSSD_SHIM_H
#define KITH_CDNSSD_SHIM_H

#include <dns_sd.h>

#ifdef __linux__
#include <dlfcn.h>
#include <stdlib.h>

// <avahi-common/malloc.h> is not needed to build: its one struct and one function are declared here and looked up at run time.
struct kith_avahi_allocator {
    void *(*malloc)(size_t size);
    void (*free)(void *block);
    void *(*realloc)(void *block, size_t size);
    void *(*calloc)(size_t count, size_t size);
};

static void *kith_zeroed(size_t size) { return calloc(1, size); }
#endif

/// Makes dns_sd ready for use in this process. Call it once, before the first dns_sd call. Does nothing on Apple's systems.
///
/// Avahi's implementation reads memory it has allocated but not written in places, so it is given memory that is zero; and it prints
/// advice for its own packagers to standard error, which is turned off unless the environment already says something about it.
static inline void kith_dnssd_prepare(void) {
#ifdef __linux__
    static const struct kith_avahi_allocator zeroing = {kith_zeroed, free, realloc, calloc};
    void *process = dlopen(NULL, RTLD_LAZY);
    if (process != NULL) {
        void (*set_allocator)(const struct kith_avahi_allocator *) =
            (void (*)(const struct kith_avahi_allocator *))dlsym(process, "avahi_set_allocator");
        if (set_allocator != NULL) set_allocator(&zeroing);
        dlclose(process);
    }
    setenv("AVAHI_COMPAT_NOWARN", "1", 0);
#endif
}

#endif
