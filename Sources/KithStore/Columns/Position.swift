import Foundation
import KithSync

/// Places of rows in an order that people make by hand: texts that stand in a column and sort bytewise.
///
///     CREATE TABLE item (
///         id       BLOB PRIMARY KEY NOT NULL,
///         position TEXT NOT NULL DEFAULT '')
///     CREATE INDEX item_by_position ON item (\(Position.orderSQL("position")), id)
///
///     TrackedTable("item", position: "position")
///     Item.order(sql: Position.orderSQL("position"))
///     try store.move(db, [milk.id], to: .after(tea.id), in: "item")
///
/// A row that was never moved holds nothing and stands by its id: by the time of its creation, if ids are UUIDs of version 7. A new
/// row is therefore the last one, and nothing need be written when the column is added to a table that has rows.
///
/// A position is fractional: between any two there is another, so a move writes the moved rows alone. It ends in digits that are
/// made of the row's id: devices that move different rows to one place at the same time draw different positions, and rows that are
/// moved together stay together. The column merges as a register: of two moves of one row at the same time the later one is shown.
public enum Position {
    /// Where rows go.
    public enum Place: Hashable, Sendable {
        /// Before all others.
        case first
        /// After all others.
        case last
        /// Right before a row.
        case before(RowID)
        /// Right after a row.
        case after(RowID)

        /// Right before the row with this id.
        public static func before(_ id: UUID) -> Place { .before(RowID(id)) }
        /// Right after the row with this id.
        public static func after(_ id: UUID) -> Place { .after(RowID(id)) }
    }

    /// When a position would become longer, the rows around it get new, short ones.
    public static let bytesMax = 100
    /// How many rows get new positions at most then, the moved ones aside, unless positions were written that are none or equal.
    public static let rowsRenewedMax = 128

    /// An expression by which SQL orders rows, on any connection and in an index.
    ///
    /// - Parameters:
    ///   - column: the column of the positions, as SQL names it.
    ///   - id: the primary key.
    public static func orderSQL(_ column: String, id: String = "id") -> String {
        "coalesce(nullif(\(column), ''), CASE typeof(\(id)) WHEN 'blob' THEN hex(\(id)) ELSE upper(replace(\(id), '-', '')) END)"
    }

    /// The position that a row has which holds none.
    public static func unmoved(_ row: RowID) -> String { row.bytes.map { digit($0 >> 4) + digit($0 & 15) }.joined() }

    /// A position above one and below another.
    ///
    /// - Parameters:
    ///   - lower: `nil` to stand first.
    ///   - upper: `nil` to stand last.
    ///   - row: which is to stand there.
    /// - Returns: `nil` if there is no place, because `lower` is not below `upper`, or one of them is no position.
    public static func between(_ lower: String?, _ upper: String?, for row: RowID) -> String? {
        run(above: lower, below: upper, of: [row])?.first
    }

    // MARK: Digits

    private static let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    private static let base = 62
    private static func digit(_ value: UInt8) -> String { String(UnicodeScalar(digits[Int(value)])) }

    /// What the digits of a position stand for; `nil` for any other text.
    private static func values(_ text: String) -> [UInt8]? {
        if text.isEmpty { return nil }
        var values: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): values.append(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): values.append(byte - UInt8(ascii: "A") + 10)
            case UInt8(ascii: "a")...UInt8(ascii: "z"): values.append(byte - UInt8(ascii: "a") + 36)
            default: return nil
            }
        }
        return values
    }

    /// Positions of rows that stand together, in their order.
    static func run(above lower: String?, below upper: String?, of rows: [RowID]) -> [String]? {
        guard let first = rows.first else { return [] }
        let bounds = [lower, upper].map { $0.map(values) }
        if bounds.contains(where: { $0 == .some(nil) }) { return nil }
        guard let place = place(above: bounds[0] ?? nil, below: bounds[1] ?? nil, first) else { return nil }
        let beginning = place + suffix(first)
        var width = 0
        var room = 1
        while room <= rows.count, rows.count > 1 {
            width += 1
            room *= base
        }
        return rows.indices.map { index in
            var number = rows.count > 1 ? (index + 1) * (room / (rows.count + 1)) : 0
            var values: [UInt8] = []
            for _ in 0..<width {
                values.insert(UInt8(number % base), at: 0)
                number /= base
            }
            // A position that ended in 0 would have nothing between itself and the same without it.
            if values.last == 0 { values.append(UInt8(base / 2)) }
            return String(decoding: (beginning + values).map { digits[Int($0)] }, as: UTF8.self)
        }
    }

    /// Positions of rows that are spread evenly between two, for rows that are to have short ones.
    static func spread(above lower: String?, below upper: String?, of rows: [RowID]) -> [String]? {
        guard let lower, let upper else { return run(above: lower, below: upper, of: rows) }
        guard let low = values(lower), let high = values(upper), low.lexicographicallyPrecedes(high) else { return nil }
        func digit(_ values: [UInt8], _ index: Int) -> UInt8 { index < values.count ? values[index] : 0 }
        var common: [UInt8] = []
        while digit(low, common.count) == digit(high, common.count), common.count < high.count {
            common.append(digit(high, common.count))
        }
        var (first, last) = (0, 0)
        for width in 1...spreadDigitsMax {
            first = first * base + Int(digit(low, common.count + width - 1))
            last = last * base + Int(digit(high, common.count + width - 1))
            let step = (last - first) / (rows.count + 1)
            // Some room for what comes next.
            if step < base / 2, width < spreadDigitsMax { continue }
            if step < 1 { return nil }
            return rows.enumerated().map { index, row in
                var number = first + (index + 1) * step
                var values = suffix(row)
                for _ in 0..<width {
                    values.insert(UInt8(number % base), at: 0)
                    number /= base
                }
                return String(decoding: (common + values).map { digits[Int($0)] }, as: UTF8.self)
            }
        }
        return nil
    }

    private static let spreadDigitsMax = 8

    /// Digits that follow from the row, the last one not 0.
    private static func suffix(_ row: RowID) -> [UInt8] {
        // The end of MurmurHash3, which spreads every bit of its argument.
        func mixed(_ value: UInt64) -> UInt64 {
            var value = value
            value = (value ^ value >> 33) &* 0xFF51_AFD7_ED55_8CCD
            value = (value ^ value >> 33) &* 0xC4CE_B9FE_1A85_EC53
            return value ^ value >> 33
        }
        var rest = mixed(row.high &+ mixed(row.low))
        var values: [UInt8] = []
        for _ in 0..<suffixDigits {
            values.append(UInt8(rest % UInt64(base)))
            rest /= UInt64(base)
        }
        values[suffixDigits - 1] = max(1, values[suffixDigits - 1])
        return values
    }

    private static let suffixDigits = 8

    // MARK: Places

    /// A position begins with a whole number, like the time in milliseconds with which a UUID of version 7 begins, and goes on with a
    /// fraction. The number goes up and down at the ends of the list, so that positions do not become longer there.
    private static let wholeDigits = 12

    private static func whole(_ values: [UInt8]) -> Int? {
        guard values.count >= wholeDigits, values[..<wholeDigits].allSatisfy({ $0 < 16 }) else { return nil }
        return values[..<wholeDigits].reduce(0) { $0 << 4 | Int($1) }
    }

    private static func values(whole number: Int) -> [UInt8]? {
        guard number >= 0, number < 1 << (4 * wholeDigits) else { return nil }
        return (0..<wholeDigits).reversed().map { UInt8(number >> (4 * $0) & 15) }
    }

    /// Digits of which every continuation stands above one position and below the other.
    private static func place(above lower: [UInt8]?, below upper: [UInt8]?, _ row: RowID) -> [UInt8]? {
        switch (lower, upper) {
        case (nil, nil): return row.bytes.prefix(wholeDigits / 2).flatMap { [$0 >> 4, $0 & 15] }
        case (let lower?, nil): return after(lower) ?? fraction(above: lower, below: nil, from: 0)
        case (nil, let upper?): return before(upper) ?? fraction(above: [], below: upper, from: 0)
        case (let lower?, let upper?):
            guard lower.lexicographicallyPrecedes(upper) else { return nil }
            guard let low = whole(lower), let high = whole(upper), low < high else {
                return fraction(above: lower, below: upper, from: 0)
            }
            if high - low > 1 { return values(whole: low + (high - low) / 2) }
            return fraction(above: lower, below: nil, from: wholeDigits)
        }
    }

    /// The next whole number.
    private static func after(_ lower: [UInt8]) -> [UInt8]? {
        let known = Array(lower.prefix(wholeDigits).prefix { $0 < 16 })
        if known.isEmpty { return nil }
        let number = known.reduce(0) { $0 << 4 | Int($1) } + 1
        return values(whole: number << (4 * (wholeDigits - known.count)))
    }

    /// The whole number before.
    private static func before(_ upper: [UInt8]) -> [UInt8]? {
        let known = Array(upper.prefix(wholeDigits).prefix { $0 < 16 })
        if known.isEmpty { return nil }
        let missing = 4 * (wholeDigits - known.count)
        let number = known.reduce(0) { $0 << 4 | Int($1) }
        // Where a greater digit follows, all numbers that begin so come before.
        let isWithin = known.count < min(upper.count, wholeDigits)
        return values(whole: (isWithin ? number + 1 : number) << missing - 1)
    }

    /// - Parameter start: digits before it are those of `lower`.
    private static func fraction(above lower: [UInt8], below upper: [UInt8]?, from start: Int) -> [UInt8]? {
        var place = Array(lower.prefix(start))
        var upper = upper
        while true {
            let index = place.count
            let low = index < lower.count ? Int(lower[index]) : -1
            // A position that ended here would not be above `lower`.
            if let upper, index >= upper.count { return nil }
            let high = upper.map { Int($0[index]) } ?? base
            if high - low > 1 {
                place.append(UInt8(low + (high - low) / 2))
                return place
            }
            if high > low, low >= 0 { upper = nil }
            place.append(UInt8(max(low, 0)))
        }
    }
}
