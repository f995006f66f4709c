/// What a device calls itself while it pairs: text from a stranger, made fit to be shown and kept.
package enum ProposedName {
    /// The name in `bytes`: without control characters, line ends and marks that change the direction of text, and at most
    /// `TrustedDevice.nameBytesMax` bytes long. Empty if nothing is left, or if the bytes are no UTF-8.
    package static func sanitized(_ bytes: [UInt8]) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { return "" }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where isShown(scalar) {
            // Of several spaces in a row one is enough, and none at the start.
            if scalar == " ", shown.last == " " || shown.isEmpty { continue }
            shown.append(scalar)
        }
        var name = ""
        for character in String(shown) {
            guard name.utf8.count + character.utf8.count <= TrustedDevice.nameBytesMax else { break }
            name.append(character)
        }
        while name.last == " " { name.removeLast() }
        return name
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        case .spaceSeparator: scalar == " "
        default: true
        }
    }
}
