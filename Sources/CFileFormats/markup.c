#include "CFileFormats.h"

#include <libxml/HTMLparser.h>
#include <libxml/SAX2.h>
#include <libxml/xmlreader.h>

// Elements within each other: an end without its beginning is looked for among all of them.
enum { KITH_HTML_DEPTH_MAX = 5000 };

static void start_element(void *context, const xmlChar *name, const xmlChar **attributes) {
    htmlParserCtxtPtr it = context;
    if (it->nameNr > KITH_HTML_DEPTH_MAX) xmlStopParser(it);
    else xmlSAX2StartElement(context, name, attributes);
}

void *kith_html_read(const char *bytes, int count, int *is_too_deep) {
    int options = HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET;
    *is_too_deep = 0;
    htmlParserCtxtPtr context = htmlNewParserCtxt();
    if (!context) return NULL;
    // Without it, libxml2 drops the rest of a document behind 256 elements within each other, and pictures of more than 10 MB. Its reader of
    // HTML takes it from the context alone.
    context->options |= XML_PARSE_HUGE;
    context->sax->startElement = start_element;
    void *document = htmlCtxtReadMemory(context, bytes, count, NULL, "UTF-8", options);
    *is_too_deep = context->errNo == XML_ERR_USER_STOP;
    htmlFreeParserCtxt(context);
    if (!*is_too_deep) return document;
    xmlFreeDoc(document);
    return NULL;
}

void kith_html_free(void *document) { xmlFreeDoc(document); }

void *kith_html_root(void *document) { return xmlDocGetRootElement(document); }

const char *kith_node_name(void *node) {
    xmlNodePtr it = node;
    return it->type == XML_ELEMENT_NODE ? (const char *)it->name : NULL;
}

const char *kith_node_text(void *node) {
    xmlNodePtr it = node;
    return it->type == XML_TEXT_NODE || it->type == XML_CDATA_SECTION_NODE ? (const char *)it->content : NULL;
}

void *kith_node_child(void *node) {
    xmlNodePtr it = node;
    // What an entity stands for is not a part of the document.
    return it->type == XML_ELEMENT_NODE ? it->children : NULL;
}

void *kith_node_next(void *node) { return ((xmlNodePtr)node)->next; }

char *kith_node_content(void *node) { return (char *)xmlNodeGetContent(node); }

char *kith_node_attribute(void *node, const char *name) { return (char *)xmlGetProp(node, (const xmlChar *)name); }

void kith_string_free(char *string) { xmlFree(string); }

void *kith_xml_open(const char *path) {
    // Entities are not resolved, and nothing outside of the file is read. A file may hold long texts.
    return xmlReaderForFile(path, NULL, XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
}

int kith_xml_next(void *reader) { return xmlTextReaderRead(reader); }

int kith_xml_kind(void *reader) {
    switch (xmlTextReaderNodeType(reader)) {
    case XML_READER_TYPE_ELEMENT: return KITH_XML_ELEMENT;
    case XML_READER_TYPE_END_ELEMENT: return KITH_XML_END;
    case XML_READER_TYPE_TEXT:
    case XML_READER_TYPE_CDATA:
    case XML_READER_TYPE_SIGNIFICANT_WHITESPACE: return KITH_XML_TEXT;
    default: return 0;
    }
}

int kith_xml_is_empty(void *reader) { return xmlTextReaderIsEmptyElement(reader) == 1; }

const char *kith_xml_name(void *reader) { return (const char *)xmlTextReaderConstLocalName(reader); }

const char *kith_xml_value(void *reader) { return (const char *)xmlTextReaderConstValue(reader); }

void kith_xml_close(void *reader) { xmlFreeTextReader(reader); }
