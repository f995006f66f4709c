import CFileFormats
import Foundation

/// An HTML document as anybody may have written it, read by libxml2.
struct HTMLDocument: ~Copyable {
    private let document: UnsafeMutableRawPointer

    /// - Returns: `nil` for what is no HTML at all, such as an empty file.
    /// - Throws: ``TooDeep``.
    init?(_ bytes: [UInt8]) throws(TooDeep) {
        var isTooDeep: Int32 = 0
        let read = bytes.withUnsafeBytes { buffer in
            kith_html_read(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: bytes.count), &isTooDeep)
        }
        if isTooDeep != 0 { throw TooDeep() }
        guard let read else { return nil }
        document = read
    }

    /// Thousands of elements stand within each other.
    struct TooDeep: Error {}

    deinit {
        kith_html_free(document)
    }

    /// The outermost element.
    func withRoot<Result>(_ body: (HTMLNode) throws -> Result) rethrows -> Result? {
        guard let root = kith_html_root(document) else { return nil }
        return try body(HTMLNode(root))
    }
}

/// An element or a text of a document, which must live as long.
struct HTMLNode {
    private let node: UnsafeMutableRawPointer

    init(_ node: UnsafeMutableRawPointer) {
        self.node = node
    }

    /// The name of the element, in lower case; `nil` for what is no element.
    var name: String? { kith_node_name(node).map { String(cString: $0).lowercased() } }

    /// The characters of a text.
    var text: String? { kith_node_text(node).map { String(cString: $0) } }

    /// All characters within.
    var content: String { Self.taken(kith_node_content(node)) ?? "" }

    /// Whether nothing follows it within what it is in.
    var isLast: Bool { kith_node_next(node) == nil }

    var children: [HTMLNode] {
        var children: [HTMLNode] = []
        var next = kith_node_child(node)
        while let child = next {
            children.append(HTMLNode(child))
            next = kith_node_next(child)
        }
        return children
    }

    subscript(attribute: String) -> String? { Self.taken(kith_node_attribute(node, attribute)) }

    private static func taken(_ string: UnsafeMutablePointer<CChar>?) -> String? {
        guard let string else { return nil }
        defer { kith_string_free(string) }
        return String(cString: string)
    }

    /// The first element of this name within, itself included.
    func first(_ name: String, depth: Int = 0) -> HTMLNode? {
        if self.name == name { return self }
        if depth > HTMLMarkdown.depthMax { return nil }
        for child in children {
            if let found = child.first(name, depth: depth + 1) { return found }
        }
        return nil
    }
}
