#include "CFileFormats.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <pthread.h>
#include <stdlib.h>

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
    // Without CMARK_OPT_UNSAFE: HTML is left out, and links that run something lead nowhere.
    char *html = document ? cmark_render_html(document, has_positions ? CMARK_OPT_SOURCEPOS : CMARK_OPT_DEFAULT, cmark_parser_get_syntax_extensions(parser)) : NULL;
    if (document) cmark_node_free(document);
    cmark_parser_free(parser);
    return html;
}

void kith_markdown_free(char *html) { cmark_get_default_mem_allocator()->free(html); }
