/// Links in the form of a wiki: `[[Title]]`, `[[Title|text]]`, `![[picture.png]]`.
package enum WikiLinks {
    /// Makes links of Markdown of those for which `destination` knows where they lead, but for those in code. Takes time in proportion to the
    /// text.
    package static func replaced(_ text: String, _ destination: (_ name: String, _ isEmbedded: Bool) -> String?) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var (copied, at) = (0, 0)
        lazy var code = MarkdownCode(bytes)
        while let start = pair(UInt8(ascii: "["), in: bytes, from: at), let end = pair(UInt8(ascii: "]"), in: bytes, from: start + 2) {
            // A link is in one line; what begins before the line of the end is none.
            if let newline = bytes[start..<end].lastIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
                at = newline + 1
                continue
            }
            at = end + 2
            let inner = String(decoding: bytes[(start + 2)..<end], as: UTF8.self)
            let name = String(inner.prefix { $0 != "|" && $0 != "#" }).trimmingSpaces()
            let isEmbedded = start > copied && bytes[start - 1] == UInt8(ascii: "!")
            guard !code.contains(start), let path = destination(name, isEmbedded) else { continue }
            let shown = inner.firstIndex(of: "|").map { inner[inner.index(after: $0)...] } ?? inner[...]
            result += bytes[copied..<start]
            // What looks like HTML would not be shown.
            let label = shown.filter { $0 != "[" && $0 != "]" }.replacing("<", with: "\\<")
            result += Array("[\(label)](\(path))".utf8)
            copied = at
        }
        return copied == 0 ? text : String(decoding: result + bytes[copied...], as: UTF8.self)
    }

    /// Where the next two of this byte are that follow each other.
    private static func pair(_ byte: UInt8, in bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + 1 < bytes.count {
            if bytes[index] == byte, bytes[index + 1] == byte { return index }
            index += 1
        }
        return nil
    }
}

extension String {
    fileprivate func trimmingSpaces() -> String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        while text.first == " " { text.removeFirst() }
        return String(text)
    }
}
