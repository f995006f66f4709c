#include "CFaultVFS.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// A write that was not synced yet; without bytes, a truncation to `offset`.
typedef struct Write {
    sqlite3_int64 offset;
    size_t size;
    uint8_t *bytes;
    struct Write *next;
} Write;

// What of one file is on the disk, and what is not yet. A file that has not changed since the disk was declared or settled has none.
typedef struct Shadow {
    char *path;
    uint8_t *bytes;
    size_t size, capacity;
    Write *first, *last;
    struct Shadow *next;
} Shadow;

typedef struct Disk {
    char *folder;
    Shadow *files;
    int64_t until_failure, failures_left, failures;
    int32_t code;
    int is_frozen;
    struct Disk *next;
} Disk;

// An open file of a disk. The file of the layer below follows it in memory.
typedef struct File {
    sqlite3_file base;
    char *path;
    sqlite3_file *real;
} File;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Disk *disks;
static sqlite3_vfs *below;
static sqlite3_vfs layer;

// The size of a sector: what a disk writes whole or not at all.
enum { sector = 512 };

// The most bytes that are read at once.
enum { part_max = 1 << 30 };

// Shadows ---------------------------------------------------------------------------------------------------------

static Disk *disk_of(const char *path) {
    for (Disk *disk = disks; disk; disk = disk->next) {
        size_t length = strlen(disk->folder);
        if (strncmp(path, disk->folder, length) == 0 && (path[length] == '/' || path[length] == 0)) return disk;
    }
    return NULL;
}

static Shadow *shadow_of(Disk *disk, const char *path) {
    for (Shadow *shadow = disk ? disk->files : NULL; shadow; shadow = shadow->next)
        if (strcmp(shadow->path, path) == 0) return shadow;
    return NULL;
}

static int grow(uint8_t **bytes, size_t *size, size_t *capacity, size_t wanted) {
    if (wanted > *capacity) {
        size_t larger = *capacity * 2 > wanted ? *capacity * 2 : wanted;
        uint8_t *moved = realloc(*bytes, larger);
        if (!moved) return 0;
        *bytes = moved;
        *capacity = larger;
    }
    if (wanted > *size) {
        memset(*bytes + *size, 0, wanted - *size);
        *size = wanted;
    }
    return 1;
}

static void drop_writes(Shadow *shadow) {
    while (shadow->first) {
        Write *write = shadow->first;
        shadow->first = write->next;
        free(write->bytes);
        free(write);
    }
    shadow->last = NULL;
}

static void drop_files(Disk *disk) {
    while (disk->files) {
        Shadow *shadow = disk->files;
        disk->files = shadow->next;
        drop_writes(shadow);
        free(shadow->path);
        free(shadow->bytes);
        free(shadow);
    }
}

static int note(Shadow *shadow, sqlite3_int64 offset, const void *bytes, size_t size) {
    Write *write = calloc(1, sizeof *write);
    if (!write) return SQLITE_NOMEM;
    write->offset = offset;
    write->size = size;
    if (bytes) {
        write->bytes = malloc(size ? size : 1);
        if (!write->bytes) {
            free(write);
            return SQLITE_NOMEM;
        }
        memcpy(write->bytes, bytes, size);
    }
    if (shadow->last) shadow->last->next = write;
    else shadow->first = write;
    shadow->last = write;
    return SQLITE_OK;
}

static int perform(uint8_t **bytes, size_t *size, size_t *capacity, const Write *write) {
    size_t offset = (size_t)write->offset;
    if (!write->bytes) {
        if (offset < *size) *size = offset;
        return SQLITE_OK;
    }
    if (!grow(bytes, size, capacity, offset + write->size)) return SQLITE_NOMEM;
    memcpy(*bytes + offset, write->bytes, write->size);
    return SQLITE_OK;
}

static int synchronize(Shadow *shadow) {
    for (Write *write = shadow->first; write; write = write->next) {
        int code = perform(&shadow->bytes, &shadow->size, &shadow->capacity, write);
        if (code != SQLITE_OK) return code;
    }
    drop_writes(shadow);
    return SQLITE_OK;
}

// Reads all of a file that is open below.
static int read_all(sqlite3_file *real, Shadow *shadow) {
    sqlite3_int64 size = 0;
    int code = real->pMethods->xFileSize(real, &size);
    if (code != SQLITE_OK) return code;
    if (!grow(&shadow->bytes, &shadow->size, &shadow->capacity, (size_t)size)) return SQLITE_NOMEM;
    for (sqlite3_int64 offset = 0; offset < size; offset += part_max) {
        sqlite3_int64 count = size - offset < part_max ? size - offset : part_max;
        code = real->pMethods->xRead(real, shadow->bytes + offset, (int)count, offset);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

// The shadow of a file that is open below and about to change. If there is none, all that the file holds is on the disk.
static int learn(Disk *disk, const char *path, sqlite3_file *real, Shadow **out) {
    if ((*out = shadow_of(disk, path))) return SQLITE_OK;
    Shadow *shadow = calloc(1, sizeof *shadow);
    if (!shadow) return SQLITE_NOMEM;
    shadow->path = strdup(path);
    int code = shadow->path ? read_all(real, shadow) : SQLITE_NOMEM;
    if (code != SQLITE_OK) {
        free(shadow->path);
        free(shadow->bytes);
        free(shadow);
        return code;
    }
    shadow->next = disk->files;
    disk->files = shadow;
    *out = shadow;
    return SQLITE_OK;
}

// The code with which the next call of this disk is to fail, or SQLITE_OK.
static int failure(Disk *disk) {
    if (disk->failures_left == 0) return SQLITE_OK;
    if (disk->until_failure > 0) {
        disk->until_failure--;
        return SQLITE_OK;
    }
    if (disk->failures_left > 0) disk->failures_left--;
    disk->failures++;
    return disk->code;
}

// Files -----------------------------------------------------------------------------------------------------------

static sqlite3_file *real(sqlite3_file *file) { return ((File *)file)->real; }

static int file_close(sqlite3_file *file) {
    int code = real(file)->pMethods->xClose(real(file));
    free(((File *)file)->path);
    return code;
}

static int file_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
    return real(file)->pMethods->xRead(real(file), bytes, size, offset);
}

// Does what changes the file below, unless it is to fail, and notes it.
static int change(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    pthread_mutex_lock(&lock);
    const char *path = ((File *)file)->path;
    Disk *disk = disk_of(path);
    Shadow *shadow = NULL;
    int code = disk && !disk->is_frozen ? failure(disk) : SQLITE_OK;
    if (code == SQLITE_OK && disk && !disk->is_frozen) code = learn(disk, path, real(file), &shadow);
    if (code == SQLITE_OK)
        code = bytes ? real(file)->pMethods->xWrite(real(file), bytes, size, offset)
                     : real(file)->pMethods->xTruncate(real(file), offset);
    if (code == SQLITE_OK && shadow) code = note(shadow, offset, bytes, (size_t)size);
    pthread_mutex_unlock(&lock);
    return code;
}

static int file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    return change(file, bytes, size, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) { return change(file, NULL, 0, size); }

int32_t kith_fault_sync(const char *path) {
    pthread_mutex_lock(&lock);
    Disk *disk = disk_of(path);
    Shadow *shadow = shadow_of(disk, path);
    int code = disk && !disk->is_frozen ? failure(disk) : SQLITE_OK;
    if (code == SQLITE_OK && shadow && !disk->is_frozen) code = synchronize(shadow);
    pthread_mutex_unlock(&lock);
    return code;
}

// The disk below is not asked: what counts here is what the shadow knows.
static int file_sync(sqlite3_file *file, int flags) {
    (void)flags;
    int code = kith_fault_sync(((File *)file)->path);
    return code == SQLITE_IOERR ? SQLITE_IOERR_FSYNC : code;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) { return real(file)->pMethods->xFileSize(real(file), size); }
static int file_lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }
static int file_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }
static int file_is_reserved(sqlite3_file *file, int *out) {
    return real(file)->pMethods->xCheckReservedLock(real(file), out);
}
static int file_control(sqlite3_file *file, int verb, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), verb, argument);
}
static int file_sector(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }
static int file_abilities(sqlite3_file *file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }
static int file_map(sqlite3_file *file, int page, int size, int extend, void volatile **out) {
    return real(file)->pMethods->xShmMap(real(file), page, size, extend, out);
}
static int file_map_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
static void file_map_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }
static int file_unmap(sqlite3_file *file, int deletes) { return real(file)->pMethods->xShmUnmap(real(file), deletes); }

// Version 2 has the index of the log, and no mapping of the database, past which writes would go unseen.
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_abilities,
    .xShmMap = file_map,
    .xShmLock = file_map_lock,
    .xShmBarrier = file_map_barrier,
    .xShmUnmap = file_unmap,
};

// The layer -------------------------------------------------------------------------------------------------------

static int layer_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags) {
    (void)vfs;
    int is_kept = flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL);
    pthread_mutex_lock(&lock);
    int is_ours = path && is_kept && disk_of(path);
    pthread_mutex_unlock(&lock);
    if (!is_ours) return below->xOpen(below, path, file, flags, out_flags);

    File *own = (File *)file;
    memset(own, 0, sizeof *own);
    own->real = (sqlite3_file *)(own + 1);
    int code = below->xOpen(below, path, own->real, flags, out_flags);
    if (code != SQLITE_OK) return code;
    own->path = strdup(path);
    if (!own->path) {
        own->real->pMethods->xClose(own->real);
        return SQLITE_NOMEM;
    }
    own->base.pMethods = &methods;
    return SQLITE_OK;
}

static int layer_delete(sqlite3_vfs *vfs, const char *path, int syncs) {
    (void)vfs;
    pthread_mutex_lock(&lock);
    Disk *disk = disk_of(path);
    for (Shadow **place = disk && !disk->is_frozen ? &disk->files : NULL; place && *place; place = &(*place)->next) {
        Shadow *shadow = *place;
        if (strcmp(shadow->path, path) != 0) continue;
        *place = shadow->next;
        drop_writes(shadow);
        free(shadow->path);
        free(shadow->bytes);
        free(shadow);
        break;
    }
    pthread_mutex_unlock(&lock);
    return below->xDelete(below, path, disk ? 0 : syncs);
}

int32_t kith_fault_install(void) {
    pthread_mutex_lock(&lock);
    int code = SQLITE_OK;
    if (!below) {
        below = sqlite3_vfs_find(NULL);
        if (below) {
            layer = *below;
            layer.pNext = NULL;
            layer.zName = "kith-fault";
            layer.szOsFile = (int)sizeof(File) + below->szOsFile;
            layer.xOpen = layer_open;
            layer.xDelete = layer_delete;
            code = sqlite3_vfs_register(&layer, 1);
        } else {
            code = SQLITE_ERROR;
        }
    }
    pthread_mutex_unlock(&lock);
    return code;
}

// Disks -----------------------------------------------------------------------------------------------------------

int32_t kith_fault_disk_add(const char *folder) {
    Disk *disk = calloc(1, sizeof *disk);
    if (disk) disk->folder = strdup(folder);
    if (!disk || !disk->folder) {
        free(disk);
        return SQLITE_NOMEM;
    }
    pthread_mutex_lock(&lock);
    disk->next = disks;
    disks = disk;
    pthread_mutex_unlock(&lock);
    return SQLITE_OK;
}

void kith_fault_disk_remove(const char *folder) {
    pthread_mutex_lock(&lock);
    for (Disk **place = &disks; *place; place = &(*place)->next) {
        Disk *disk = *place;
        if (strcmp(disk->folder, folder) != 0) continue;
        *place = disk->next;
        drop_files(disk);
        free(disk->folder);
        free(disk);
        break;
    }
    pthread_mutex_unlock(&lock);
}

void kith_fault_disk_fail(const char *folder, int64_t after, int64_t count, int32_t code) {
    pthread_mutex_lock(&lock);
    Disk *disk = disk_of(folder);
    if (disk) {
        disk->until_failure = after;
        disk->failures_left = count;
        disk->failures = 0;
        disk->code = code;
    }
    pthread_mutex_unlock(&lock);
}

int64_t kith_fault_disk_failures(const char *folder) {
    pthread_mutex_lock(&lock);
    Disk *disk = disk_of(folder);
    int64_t failures = disk ? disk->failures : 0;
    pthread_mutex_unlock(&lock);
    return failures;
}

void kith_fault_disk_freeze(const char *folder, int32_t is_frozen) {
    pthread_mutex_lock(&lock);
    Disk *disk = disk_of(folder);
    if (disk) disk->is_frozen = is_frozen;
    pthread_mutex_unlock(&lock);
}

void kith_fault_disk_settle(const char *folder) {
    pthread_mutex_lock(&lock);
    Disk *disk = disk_of(folder);
    if (disk) drop_files(disk);
    pthread_mutex_unlock(&lock);
}

// Losing power ----------------------------------------------------------------------------------------------------

// SplitMix64; see Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
static uint64_t draw(uint64_t *state, uint64_t count) {
    uint64_t mixed = (*state += 0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return (mixed ^ (mixed >> 31)) % count;
}

// How much of what was not synced survives.
enum { nothing, beginning, anything, manners };

// Some sectors of a write.
static int perform_part(uint8_t **bytes, size_t *size, size_t *capacity, const Write *write, uint64_t *state) {
    for (size_t start = 0; start < write->size;) {
        size_t room = sector - ((size_t)write->offset + start) % sector;
        size_t count = write->size - start < room ? write->size - start : room;
        if (draw(state, 2) == 0) {
            Write part = {.offset = write->offset + (sqlite3_int64)start, .size = count, .bytes = write->bytes + start};
            int code = perform(bytes, size, capacity, &part);
            if (code != SQLITE_OK) return code;
        }
        start += count;
    }
    return SQLITE_OK;
}

static int survive(const Shadow *shadow, uint64_t seed, uint8_t **bytes, size_t *size) {
    size_t capacity = 0;
    if (!grow(bytes, size, &capacity, shadow->size + 1)) return SQLITE_NOMEM;
    *size = shadow->size;
    if (shadow->size) memcpy(*bytes, shadow->bytes, shadow->size);
    uint64_t manner = draw(&seed, manners), count = 0;
    for (Write *write = shadow->first; write; write = write->next) count++;
    uint64_t whole = manner == beginning ? draw(&seed, count + 1) : 0;
    uint64_t index = 0;
    for (Write *write = shadow->first; write && manner != nothing; write = write->next, index++) {
        int code = SQLITE_OK;
        if (manner == beginning && index > whole) break;
        uint64_t fate = manner == beginning ? (index < whole ? 0 : 1) : draw(&seed, 3);
        if (fate == 0) code = perform(bytes, size, &capacity, write);
        else if (fate == 1 && write->bytes) code = perform_part(bytes, size, &capacity, write, &seed);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

int64_t kith_fault_survivor(const char *path, uint64_t seed, uint8_t **bytes) {
    pthread_mutex_lock(&lock);
    Shadow *shadow = shadow_of(disk_of(path), path);
    size_t size = 0;
    *bytes = NULL;
    int code = shadow ? survive(shadow, seed, bytes, &size) : SQLITE_OK;
    pthread_mutex_unlock(&lock);
    if (code == SQLITE_OK) return shadow ? (int64_t)size : -1;
    free(*bytes);
    *bytes = NULL;
    return -2;
}

void kith_fault_free(uint8_t *bytes) { free(bytes); }
