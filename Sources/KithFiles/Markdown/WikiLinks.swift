/// Links in the form of a wiki: `[[Title]]`, `[[Title|text]]`, `![[picture.png]]`.
package enum WikiLinks {
    /// Makes links of Markdown of those for which `destination` knows where they lead.
    package static func replaced(_ text: String, _ destination: (_ name: String, _ isEmbedded: Bool) -> String?) -> String {
        guard text.contains("[[") else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "[[") {
            let head = rest[..<start.lowerBound]
            let tail = rest[start.upperBound...]
            guard let end = tail.firstRange(of: "]]"), !tail[..<end.lowerBound].contains(where: \.isNewline) else {
                result += rest[..<start.upperBound]
                rest = tail
                continue
            }
            let inner = tail[..<end.lowerBound]
            let target = inner.prefix { $0 != "|" && $0 != "#" }
            let name = String(target).trimmingSpaces()
            let isEmbedded = head.last == "!"
            if let path = destination(name, isEmbedded) {
                let shown = inner.firstIndex(of: "|").map { inner[inner.index(after: $0)...] } ?? inner
                result += head + "[" + shown.filter { $0 != "[" && $0 != "]" } + "](" + path + ")"
            } else {
                result += rest[..<end.upperBound]
            }
            rest = tail[end.upperBound...]
        }
        return result + rest
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
