#ifndef CFAULTVFS_H
#define CFAULTVFS_H

#include <stdint.h>

// A disk on which what was not synced can be lost: a layer between SQLite and the system, for tests only.
//
// Everything is written through to the real files at once, so that all connections see it. Beside that the layer keeps, for
// each database, log and journal below a folder that was declared a disk, what was synced and what was written since. From
// these it makes, from a seed, the files as a loss of power may leave them. Other folders are not touched.

/// Puts the layer in front of SQLite's default VFS for all connections that are opened from now on, once for the process.
/// Returns an SQLite result code.
int32_t kith_fault_install(void);

/// Declares `folder` a disk, and what its files hold on it. Returns an SQLite result code.
int32_t kith_fault_disk_add(const char *folder);

/// The disk is no longer needed. No file of it may be open.
void kith_fault_disk_remove(const char *folder);

/// What was written to `path` so far is on the disk. Returns an SQLite result code; an error is one that was asked for.
int32_t kith_fault_sync(const char *path);

/// After `after` more writes, truncations and syncs of this disk the following `count` of them fail with the SQLite result
/// code `code`; a `count` of -1 stands for all, one of 0 for none.
void kith_fault_disk_fail(const char *folder, int64_t after, int64_t count, int32_t code);

/// How many calls have failed since `kith_fault_disk_fail`.
int64_t kith_fault_disk_failures(const char *folder);

/// Whether what happens to the files from now on is left out of account, because the caller will set them back.
void kith_fault_disk_freeze(const char *folder, int32_t is_frozen);

/// What a loss of power leaves of `path`: what was synced, and of what was written since some, whole or in part, as `seed` has
/// it. Returns the number of bytes and puts a buffer into `bytes`, to be given back with `kith_fault_free`; -1 if nothing
/// was written to the file that might be lost, -2 without memory.
int64_t kith_fault_survivor(const char *path, uint64_t seed, uint8_t **bytes);
void kith_fault_free(uint8_t *bytes);

/// What the real files of the disk hold now is on the disk.
void kith_fault_disk_settle(const char *folder);

#endif
