extension TextBuffer {
    public init(_ string: String) {
        self.init(scalars: string.unicodeScalars)
    }

    /// The text with these bytes, of any length: ``TextLimits/textScalarsMax`` is checked where a text is edited.
    ///
    /// - Throws: ``TextError/malformed(_:)`` for anything but valid UTF-8; nothing is repaired.
    public init(utf8: some Collection<UInt8>) throws(TextError) {
        self.init(scalars: try Unicode.Scalar.decode(utf8: utf8))
    }

    /// The text with these UTF-16 units; a lone surrogate, as JavaScript strings may hold, becomes U+FFFD.
    public init(repairingUTF16 units: some Collection<UInt16>) {
        self.init(String(decoding: units, as: UTF16.self))
    }

    /// The text as UTF-8.
    public var utf8: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        forEachChunk { chunk in
            for scalar in chunk { scalar.appendUTF8(to: &bytes) }
        }
        return bytes
    }

    /// The text as a string.
    public var string: String { String(decoding: utf8, as: UTF8.self) }

    /// The scalar number that stands at `offset`, counted in `unit`.
    ///
    /// - Throws: ``TextError/positionInsideScalar(offset:unit:)`` between the units of one scalar,
    ///   ``TextError/positionOutOfRange(position:length:)`` outside the text.
    public func position(at offset: Int, in unit: TextUnit) throws(TextError) -> Int {
        var position = 0
        var reached = 0
        forEachChunk { chunk in
            for scalar in chunk where reached < offset {
                reached += unit.width(of: scalar)
                position += 1
            }
        }
        guard offset >= 0, reached >= offset else { throw .positionOutOfRange(position: offset, length: reached) }
        guard reached == offset else { throw .positionInsideScalar(offset: offset, unit: unit) }
        return position
    }

    /// The offset, counted in `unit`, of the scalar number `position`.
    ///
    /// - Throws: ``TextError/positionOutOfRange(position:length:)``.
    public func offset(of position: Int, in unit: TextUnit) throws(TextError) -> Int {
        guard position >= 0, position <= count else { throw .positionOutOfRange(position: position, length: count) }
        var remaining = position
        var offset = 0
        forEachChunk { chunk in
            for scalar in chunk.prefix(remaining) { offset += unit.width(of: scalar) }
            remaining -= min(remaining, chunk.count)
        }
        return offset
    }
}

extension Unicode.Scalar {
    /// Valid UTF-8 as scalars; nothing is repaired.
    static func decode(utf8: some Collection<UInt8>) throws(TextError) -> ContiguousArray<Unicode.Scalar> {
        guard let string = String(validating: utf8, as: UTF8.self) else { throw .malformed("invalid UTF-8") }
        return ContiguousArray(string.unicodeScalars)
    }

    @inline(__always)
    func appendUTF8(to bytes: inout [UInt8]) {
        if isASCII {
            bytes.append(UInt8(truncatingIfNeeded: value))
        } else if let encoded = UTF8.encode(self) {
            bytes.append(contentsOf: encoded)
        }
    }
}
