#define _GNU_SOURCE
#include "CFileFormats.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <stdlib.h>
#include <zlib.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

void *kith_archive_open(const char *path) {
    struct archive *archive = archive_read_new();
    if (archive == NULL) return NULL;
    archive_read_support_filter_all(archive);
    archive_read_support_format_tar(archive);
    archive_read_support_format_zip(archive);
    // What fails here fails again with the first entry.
    archive_read_open_filename(archive, path, 65536);
    return archive;
}

int kith_archive_next(void *archive, const char **path, const char **target, int *kind) {
    // Names are UTF-8, whatever the person's locale is.
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
    struct archive_entry *entry = NULL;
    int result = archive_read_next_header(archive, &entry);
    *path = *target = NULL;
    *kind = KITH_ARCHIVE_OTHER;
    if (result == ARCHIVE_OK || result == ARCHIVE_WARN) {
        *path = archive_entry_pathname(entry);
        *target = archive_entry_hardlink(entry);
        switch (archive_entry_filetype(entry)) {
        case AE_IFREG: *kind = KITH_ARCHIVE_FILE; break;
        case AE_IFDIR: *kind = KITH_ARCHIVE_FOLDER; break;
        case AE_IFLNK: *kind = KITH_ARCHIVE_LINK; break;
        }
        if (*target != NULL) *kind = KITH_ARCHIVE_SAME;
        if (archive_entry_is_encrypted(entry)) *kind = KITH_ARCHIVE_LOCKED;
    }
    if (utf8) {
        uselocale(before);
        freelocale(utf8);
    }
    if (result == ARCHIVE_EOF) return 0;
    return result == ARCHIVE_OK || result == ARCHIVE_WARN ? 1 : -1;
}

long kith_archive_read(void *archive, void *buffer, long count) { return archive_read_data(archive, buffer, (size_t)count); }

int kith_archive_is_zip(void *archive) { return (archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_ZIP; }

int kith_archive_is_plain_tar(void *archive) {
    return (archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR && archive_filter_code(archive, 0) == ARCHIVE_FILTER_NONE;
}

const char *kith_archive_error(void *archive) { return archive_error_string(archive); }

void kith_archive_close(void *archive) { archive_read_free(archive); }

int kith_gzip_is_damaged(const char *path, long long bytes_max) {
    gzFile file = gzopen(path, "rbe");
    if (file == NULL) return 0;
    if (gzdirect(file)) {
        gzclose_r(file);
        return 0;
    }
    char buffer[65536];
    int count = 0;
    while (bytes_max > 0 && (count = gzread(file, buffer, sizeof buffer)) > 0) bytes_max -= count;
    // Closing tells of a stream that breaks off.
    return gzclose_r(file) == Z_BUF_ERROR || count < 0;
}

typedef struct {
    struct archive *archive;
    void *context;
    kith_archive_sink sink;
} writer;

static la_ssize_t take(struct archive *archive, void *context, const void *bytes, size_t count) {
    (void)archive;
    writer *it = context;
    return it->sink(it->context, bytes, (long)count);
}

void *kith_archive_make(void *context, kith_archive_sink sink) {
    writer *it = malloc(sizeof(writer));
    if (it == NULL) return NULL;
    it->archive = archive_write_new();
    it->context = context;
    it->sink = sink;
    if (it->archive == NULL) {
        free(it);
        return NULL;
    }
    archive_write_add_filter_gzip(it->archive);
    archive_write_set_format_pax_restricted(it->archive);
    // Nothing after the end.
    archive_write_set_bytes_in_last_block(it->archive, 1);
    if (archive_write_open(it->archive, it, NULL, take, NULL) != ARCHIVE_OK) {
        kith_archive_discard(it);
        return NULL;
    }
    return it;
}

int kith_archive_begin(void *archive, const char *name, long long size) {
    writer *it = archive;
    struct archive_entry *entry = archive_entry_new();
    if (entry == NULL) return -1;
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, size);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0600);
    int result = archive_write_header(it->archive, entry);
    archive_entry_free(entry);
    return result == ARCHIVE_OK ? 0 : -1;
}

int kith_archive_write(void *archive, const void *bytes, long count) {
    writer *it = archive;
    return archive_write_data(it->archive, bytes, (size_t)count) == count ? 0 : -1;
}

int kith_archive_finish(void *archive) { return archive_write_close(((writer *)archive)->archive) == ARCHIVE_OK ? 0 : -1; }

void kith_archive_discard(void *archive) {
    writer *it = archive;
    archive_write_free(it->archive);
    free(it);
}
