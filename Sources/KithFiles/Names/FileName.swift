import Foundation

/// Names for files that Linux, macOS and Windows can all hold.
///
/// What one of them cannot hold is replaced or left out: `a/b` becomes `a-b`, `CON` becomes `CON_`. A name is made in composed form (NFC).
enum FileName {
    /// Bytes of a name, as UTF-8, on most file systems.
    static let bytesMax = 255
    /// Bytes of a name without its ending and a number: there is room for ` (99999)` and `.jpeg`.
    static let stemBytesMax = 236
    /// The stem where nothing of a title can be used.
    static let untitled = "Untitled"

    /// The part of a name before its ending, for a note with this title.
    static func stem(for title: String) -> String {
        var stem = ""
        for scalar in title.precomposedStringWithCanonicalMapping.unicodeScalars {
            switch scalar {
            case "/", "\\", ":", "|": stem.unicodeScalars.append("-")
            case "*", "?", "\"", "<", ">": continue
            default: stem.unicodeScalars.append(isUnseen(scalar) ? " " : scalar)
            }
        }
        stem = trimmed(stem)
        while stem.utf8.count > stemBytesMax { stem.removeLast() }
        stem = trimmed(stem)
        if stem.isEmpty { return untitled }
        return isReserved(stem) ? reservedChanged(stem) : stem
    }

    /// A whole name for a file that was called `name` where it came from; never a path.
    static func name(for name: String) -> String {
        let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
        let (base, ending) = parts(last)
        let letters = (ending ?? "").unicodeScalars.filter { CharacterSet.alphanumerics.contains($0) }.prefix(16)
        let stem = stem(for: base)
        return letters.isEmpty ? stem : stem + "." + letters.map { String($0) }.joined()
    }

    /// A name before and after its last dot; without an ending if there is none, or nothing stands before it.
    static func parts(_ name: String) -> (stem: String, ending: String?) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, nil) }
        let ending = name[name.index(after: dot)...]
        return ending.isEmpty || ending.contains(" ") ? (name, nil) : (String(name[..<dot]), String(ending))
    }

    /// What two names have in common that some file system takes for one: case and the form of accents do not count.
    static func key(_ name: String) -> String {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.lowercased() }
        return name.precomposedStringWithCanonicalMapping.folding(options: .caseInsensitive, locale: nil)
            .precomposedStringWithCanonicalMapping
    }

    private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: true
        // Marks that turn the direction of what follows: a name must read as it is.
        case .format: scalar.properties.isBidiControl || scalar == "\u{FEFF}"
        default: false
        }
    }

    /// Without what is hidden or dropped at the ends: spaces, and dots.
    private static func trimmed(_ text: String) -> String {
        var scalars = text.unicodeScalars[...]
        while let last = scalars.last, last == "." || last.properties.isWhitespace { scalars.removeLast() }
        while let first = scalars.first, first == "." || first.properties.isWhitespace { scalars.removeFirst() }
        return String(scalars)
    }

    /// Names of devices on Windows, with any ending.
    private static let reserved: Set<String> = Set(
        ["con", "prn", "aux", "nul", "conin$", "conout$"]
            + ["com", "lpt"].flatMap { device in "0123456789\u{B9}\u{B2}\u{B3}".map { device + String($0) } })

    private static func isReserved(_ stem: String) -> Bool {
        reserved.contains(beforeDot(stem).trimmingCharacters(in: .whitespaces).lowercased())
    }

    private static func beforeDot(_ stem: String) -> String {
        stem.firstIndex(of: ".").map { String(stem[..<$0]) } ?? stem
    }

    private static func reservedChanged(_ stem: String) -> String {
        let head = beforeDot(stem)
        return head + "_" + stem.dropFirst(head.count)
    }
}
