import KithCausality

// Texts for people, wall clocks, and replicas by number.

extension ByteWriter {
    /// A text for people, cut to `bytesMax` bytes between characters.
    mutating func string(_ text: String, bytesMax: Int) {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            let next = UTF8.encode(scalar).map(Array.init) ?? []
            if bytes.count + next.count > bytesMax { break }
            bytes += next
        }
        blob(bytes)
    }

    /// Milliseconds since 1970; times before that count as 1970.
    mutating func milliseconds(_ value: Int64) {
        varint(UInt64(max(0, value)))
    }
}

extension ByteReader {
    /// A text for people. What is not UTF-8 or is a control character becomes "?", since it may end in a log or a terminal.
    mutating func string(limit: Int, _ name: String) throws(WireError) -> String {
        let text = String(decoding: try blob(limit: limit, name), as: UTF8.self)
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: result.append("?")
            default: result.append(scalar == "\u{FFFD}" ? "?" : scalar)
            }
        }
        return String(result)
    }

    mutating func milliseconds() throws(WireError) -> Int64 {
        guard let value = Int64(exactly: try varint()) else { throw .malformed("time past 63 bits") }
        return value
    }

    mutating func replica(_ replicas: ReplicaTable) throws(WireError) -> ReplicaID {
        replicas.ids[try index(below: replicas.ids.count, "replica number")]
    }
}
