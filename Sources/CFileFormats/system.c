#define _GNU_SOURCE
#include "CFileFormats.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int kith_sync_file_system(int descriptor) {
#ifdef __linux__
    return syncfs(descriptor);
#else
    return fsync(descriptor);
#endif
}

int kith_exchange(const char *first, const char *second) {
#ifdef __linux__
    return renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE);
#else
    return renamex_np(first, second, RENAME_SWAP);
#endif
}

int kith_rename_new(const char *from, const char *to) {
#ifdef __linux__
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
#else
    return renamex_np(from, to, RENAME_EXCL);
#endif
}
