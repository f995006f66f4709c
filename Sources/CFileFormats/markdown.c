#include "CFileFormats.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm.h>
#include <libxml/HTMLparser.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// Of HTML that is looked through for pictures. What people write into a note is far smaller.
enum { KITH_HTML_BYTES_MAX = 1 << 20 };

static int has_picture(const char *html) {
    for (const char *tag = html; tag && (tag = strchr(tag, '<')); tag++) {
        if (strncasecmp(tag, "<img", 4) == 0) return 1;
    }
    return 0;
}

static cmark_node *picture(xmlNodePtr element) {
    cmark_node *image = cmark_node_new(CMARK_NODE_IMAGE), *text = cmark_node_new(CMARK_NODE_TEXT);
    xmlChar *source = xmlGetProp(element, BAD_CAST "src"), *words = xmlGetProp(element, BAD_CAST "alt");
    cmark_node_set_url(image, source ? (const char *)source : "");
    cmark_node_set_literal(text, words ? (const char *)words : "");
    cmark_node_append_child(image, text);
    xmlFree(source);
    xmlFree(words);
    return image;
}

// The next node in the order of the document.
static xmlNodePtr following(xmlNodePtr node) {
    if (node->type == XML_ELEMENT_NODE && node->children) return node->children;
    while (node && !node->next) node = node->parent;
    return node ? node->next : NULL;
}

// Puts the pictures that are in HTML in its place, as Markdown has them.
static void show_pictures(cmark_node *html) {
    int is_block = cmark_node_get_type(html) == CMARK_NODE_HTML_BLOCK, is_too_deep;
    const char *literal = cmark_node_get_literal(html);
    size_t count = literal ? strlen(literal) : 0;
    if (!has_picture(literal) || count > KITH_HTML_BYTES_MAX) return;
    void *document = kith_html_read(literal, (int)count, &is_too_deep);
    xmlNodePtr node = document ? kith_html_root(document) : NULL;
    for (int is_first = 1; node; node = following(node)) {
        if (node->type != XML_ELEMENT_NODE || strcasecmp((const char *)node->name, "img") != 0) continue;
        cmark_node *image = picture(node);
        // A block stays the same node, which knows its lines.
        if (is_first && is_block) cmark_node_set_type(html, CMARK_NODE_PARAGRAPH);
        is_first = 0;
        int is_placed = is_block ? cmark_node_append_child(html, image) : cmark_node_replace(html, image);
        if (!is_placed) cmark_node_free(image);
        if (is_block) continue;
        if (is_placed) cmark_node_free(html);
        break;
    }
    if (document) kith_html_free(document);
}

static void show_all_pictures(cmark_node *document) {
    cmark_node **found = NULL;
    size_t count = 0;
    cmark_iter *nodes = cmark_iter_new(document);
    for (cmark_event_type event; (event = cmark_iter_next(nodes)) != CMARK_EVENT_DONE;) {
        cmark_node *node = cmark_iter_get_node(nodes);
        cmark_node_type type = cmark_node_get_type(node);
        if (event != CMARK_EVENT_ENTER || (type != CMARK_NODE_HTML_BLOCK && type != CMARK_NODE_HTML_INLINE)) continue;
        // By powers of two.
        if ((count & (count - 1)) == 0) {
            cmark_node **larger = realloc(found, (count ? 2 * count : 1) * sizeof *found);
            if (!larger) break;
            found = larger;
        }
        found[count++] = node;
    }
    cmark_iter_free(nodes);
    for (size_t index = 0; index < count; index++) show_pictures(found[index]);
    free(found);
}

char *kith_markdown_html(const char *text, long count, int has_positions) {
    static const char *const names[] = {"table", "tasklist", "strikethrough", "autolink"};
    // It looks itself whether it was done, but not whether another thread is about to.
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, cmark_gfm_core_extensions_ensure_registered);
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
    if (parser == NULL) return NULL;
    for (unsigned index = 0; index < sizeof names / sizeof *names; index++) {
        cmark_syntax_extension *extension = cmark_find_syntax_extension(names[index]);
        if (extension != NULL) cmark_parser_attach_syntax_extension(parser, extension);
    }
    cmark_parser_feed(parser, text, (size_t)count);
    cmark_node *document = cmark_parser_finish(parser);
    if (document) show_all_pictures(document);
    // Without CMARK_OPT_UNSAFE: HTML is left out, and links that run something lead nowhere.
    char *html = document ? cmark_render_html(document, has_positions ? CMARK_OPT_SOURCEPOS : CMARK_OPT_DEFAULT, cmark_parser_get_syntax_extensions(parser)) : NULL;
    if (document) cmark_node_free(document);
    cmark_parser_free(parser);
    return html;
}

void kith_markdown_free(char *html) { cmark_get_default_mem_allocator()->free(html); }
