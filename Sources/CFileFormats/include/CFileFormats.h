#ifndef KITH_C_FILE_FORMATS_H
#define KITH_C_FILE_FORMATS_H

// What Kith needs of libxml2, libarchive and cmark-gfm, behind a header without theirs: the headers of libxml2 and libarchive bring along
// types of the system and of ICU that Swift already has from elsewhere.

// MARK: HTML

/// Reads HTML, whatever its form. NULL for what is none; also if thousands of elements stand within each other, and then `is_too_deep` is 1.
void *kith_html_read(const char *bytes, int count, int *is_too_deep);
void kith_html_free(void *document);
void *kith_html_root(void *document);
/// The name of an element; NULL for what is no element.
const char *kith_node_name(void *node);
/// The characters of a text; NULL for what is no text.
const char *kith_node_text(void *node);
void *kith_node_child(void *node);
void *kith_node_next(void *node);
/// All characters within, and the value of an attribute: to be freed with kith_string_free.
char *kith_node_content(void *node);
char *kith_node_attribute(void *node, const char *name);
void kith_string_free(char *string);

// MARK: XML, piece by piece

enum { KITH_XML_ELEMENT = 1, KITH_XML_TEXT = 3, KITH_XML_END = 15 };
void *kith_xml_open(const char *path);
/// 1: there is a next piece, 0: the end, else the file is damaged.
int kith_xml_next(void *reader);
/// One of the kinds above, or another number.
int kith_xml_kind(void *reader);
int kith_xml_is_empty(void *reader);
const char *kith_xml_name(void *reader);
const char *kith_xml_value(void *reader);
void kith_xml_close(void *reader);

// MARK: Archives

/// Opens a tar or zip archive, compressed or not; NULL without memory. The first kith_archive_next says whether it is one.
void *kith_archive_open(const char *path);
enum {
    KITH_ARCHIVE_FILE,
    KITH_ARCHIVE_FOLDER,
    /// A symbolic link.
    KITH_ARCHIVE_LINK,
    /// Another name of an earlier file, `target`: a hard link.
    KITH_ARCHIVE_SAME,
    /// What needs a password.
    KITH_ARCHIVE_LOCKED,
    KITH_ARCHIVE_OTHER,
};
/// 1: there is a next entry, 0: the end, else the archive is damaged, or none. `path` and `target` are as they stand in the archive, NULL for
/// none; `kind` is one of the above.
int kith_archive_next(void *archive, const char **path, const char **target, int *kind);
int kith_archive_is_zip(void *archive);
/// Whether what was read is a tar archive that is not compressed.
int kith_archive_is_plain_tar(void *archive);
/// Bytes that were read, 0 at the end of the entry, less for damage.
long kith_archive_read(void *archive, void *buffer, long count);
const char *kith_archive_error(void *archive);
void kith_archive_close(void *archive);
/// Whether a file that is compressed by gzip is not what its checksums say, which libarchive does not look at; 0 for any other file. No more
/// than `bytes_max` are unpacked.
int kith_gzip_is_damaged(const char *path, long long bytes_max);

/// Takes bytes; returns their number, or less than zero to end the writing.
typedef long (*kith_archive_sink)(void *context, const void *bytes, long count);
/// Makes a tar archive, compressed by gzip.
void *kith_archive_make(void *context, kith_archive_sink sink);
/// These return 0, or else something failed.
int kith_archive_begin(void *archive, const char *name, long long size);
int kith_archive_write(void *archive, const void *bytes, long count);
int kith_archive_finish(void *archive);
void kith_archive_discard(void *archive);

// MARK: Markdown

/// Markdown of GitHub as HTML, without the HTML in it but for pictures; to be freed with kith_markdown_free. With positions, each block says which lines of
/// the text it comes from.
char *kith_markdown_html(const char *text, long count, int has_positions);
void kith_markdown_free(char *html);

// MARK: The system

/// Brings all of the file system that a descriptor is on to the disk.
int kith_sync_file_system(int descriptor);
/// Begins to bring what was written into a file to the disk, and does not wait for it.
void kith_start_sync(int descriptor);
/// The name in a `struct dirent`. The system gives only as many bytes as the name has, and Swift would read all that the type has room for.
const char *kith_entry_name(const void *entry);
/// Lets two files change places at once; 0 if they did. Not every file system can.
int kith_exchange(const char *first, const char *second);
/// Whether a program has a file open to write into it; 0 where that is not known. The descriptor is open to read it.
int kith_is_being_written(int descriptor);
/// Renames a file if nothing is in the new place; 0 if it was done.
int kith_rename_new(const char *from, const char *to);

#endif
