/// A QR code of a short text: what a camera reads from a screen (ISO/IEC 18004:2015).
///
/// Bytes are encoded as they are (byte mode), with error correction at level M, which survives damage to about 15 % of the code.
/// Versions 1 to 6, that is 21 to 41 modules a side; in these all blocks of one code are of equal length.
public struct QRCode: Hashable, Sendable {
    /// Most bytes that fit.
    public static let bytesMax = 106

    /// Modules a side, without the light margin of four modules that a reader needs.
    public let size: Int
    private(set) var modules: [Bool]
    /// Modules that carry no data: they are the same in all codes of a size.
    private(set) var isFixed: [Bool]

    /// The code of `bytes`; `nil` if there are more than ``bytesMax``.
    public init?(_ bytes: [UInt8]) {
        guard let codewords = QRCodewords(bytes) else { return nil }
        let plain = QRCode(codewords)
        // Of the eight masks the one that is easiest to read (7.8.3).
        let candidates = (0..<8).map { plain.masked($0) }
        guard let best = candidates.min(by: { $0.penalty < $1.penalty }) else { return nil }
        self = best
    }

    /// The code of `bytes` with this mask, 0 to 7.
    init?(_ bytes: [UInt8], mask: Int) {
        guard let codewords = QRCodewords(bytes) else { return nil }
        self = QRCode(codewords).masked(mask)
    }

    /// Whether the module is dark. Outside of the code all are light.
    public func isDark(row: Int, column: Int) -> Bool {
        (0..<size).contains(row) && (0..<size).contains(column) && modules[row * size + column]
    }

    /// A code that is not masked yet, without format information.
    private init(_ codewords: QRCodewords) {
        size = 17 + 4 * codewords.version
        modules = [Bool](repeating: false, count: size * size)
        isFixed = modules
        drawPatterns(version: codewords.version)
        place(codewords.bytes)
    }

    // MARK: Drawing

    mutating func toggle(_ row: Int, _ column: Int) {
        modules[row * size + column].toggle()
    }

    mutating func fix(_ row: Int, _ column: Int, _ isDark: Bool) {
        modules[row * size + column] = isDark
        isFixed[row * size + column] = true
    }

    /// Timing, finder and alignment patterns, and the room for the format information (6.3).
    private mutating func drawPatterns(version: Int) {
        for index in 0..<size {
            fix(6, index, index % 2 == 0)
            fix(index, 6, index % 2 == 0)
        }
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] { drawRings(row, column, radius: 4) }
        if version > 1 { drawRings(size - 7, size - 7, radius: 2) }
        drawFormat(mask: 0)
    }

    /// Squares around a centre, the outermost light for a finder, dark for an alignment pattern.
    private mutating func drawRings(_ row: Int, _ column: Int, radius: Int) {
        for y in max(0, row - radius)...min(size - 1, row + radius) {
            for x in max(0, column - radius)...min(size - 1, column + radius) {
                let distance = max(abs(y - row), abs(x - column))
                fix(y, x, radius == 4 ? distance != 2 && distance != 4 : distance != 1)
            }
        }
    }

    /// Bits in pairs of columns from the right to the left, up and down by turns (7.7.3).
    private mutating func place(_ bytes: [UInt8]) {
        var bits = bytes.lazy.flatMap { byte in (0..<8).map { byte >> UInt8(7 - $0) & 1 == 1 } }.makeIterator()
        var isUpward = true
        for right in stride(from: size - 1, to: 0, by: -2).map({ $0 <= 6 ? $0 - 1 : $0 }) {
            for step in 0..<size {
                let row = isUpward ? size - 1 - step : step
                for column in [right, right - 1] where !isFixed[row * size + column] {
                    // What is left over stays light.
                    modules[row * size + column] = bits.next() ?? false
                }
            }
            isUpward.toggle()
        }
    }
}
