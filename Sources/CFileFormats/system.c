#define _GNU_SOURCE
#include "CFileFormats.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int kith_sync_file_system(int descriptor) {
#ifdef __linux__
    return syncfs(descriptor);
#else
    return fsync(descriptor);
#endif
}

void kith_start_sync(int descriptor) {
#ifdef __linux__
    sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
#else
    (void)descriptor;
#endif
}

const char *kith_entry_name(const void *entry) { return ((const struct dirent *)entry)->d_name; }

int kith_exchange(const char *first, const char *second) {
#ifdef __linux__
    return renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE);
#else
    return renamex_np(first, second, RENAME_SWAP);
#endif
}

int kith_is_being_written(int descriptor) {
#ifdef __linux__
    // The system gives no lease to read what a program has open to write; see fcntl(2). It is given back at once. A program that opens
    // the file in between waits that long, and this process gets a signal, which is to be one that does nothing.
    if (fcntl(descriptor, F_SETSIG, SIGURG) != 0) return 0;
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN;
    fcntl(descriptor, F_SETLEASE, F_UNLCK);
    return 0;
#else
    (void)descriptor;
    return 0;
#endif
}

int kith_rename_new(const char *from, const char *to) {
#ifdef __linux__
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
#else
    return renamex_np(from, to, RENAME_EXCL);
#endif
}
