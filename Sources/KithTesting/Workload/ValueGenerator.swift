import KithCausality
import KithSync

/// Makes the values that users write.
struct ValueGenerator {
    private let swarm: Swarm
    private let tables: [WorkloadTable]
    private var random: SplitMix64
    private var count = 0
    private let characters: CharacterSource

    /// - Parameter use: whether users write the values, or machines find them.
    init(seed: UInt64, swarm: Swarm, tables: [WorkloadTable], for use: CharacterSource.Use = .generated) {
        characters = CharacterSource(use)
        self.swarm = swarm
        self.tables = tables
        random = SplitMix64(seed: seed, .values, use == .found ? 1 : 0)
    }

    mutating func value(for column: WorkloadTable.Column, _ verb: RowWrite.Verb) -> ColumnValue {
        count += 1
        switch column.kind {
        case .set where verb == .add || verb == .remove: return .text(element())
        case .set: return set()
        case .counter: return .integer(Int64(verb == .count ? random.int(in: -9...9) : random.int(in: 0...9)))
        case .text where verb.editsText: return .integer(Int64(random.int(in: 0...TextPlace.numberMax)))
        case .text where column.isNullable && random.chance(percent: 10): return .null
        case .text: return .text(Array(characters.next(random.int(in: 0...6)).utf8))
        case .register: return column.reference.map { reference(column, $0) } ?? register(column)
        }
    }

    /// The id of a row that may be there, or NULL.
    private mutating func reference(_ column: WorkloadTable.Column, _ reference: WorkloadReference) -> ColumnValue {
        if column.isNullable, random.chance(percent: 15) { return .null }
        return tables[reference.parent].key(of: random.int(in: 1...swarm.rowsPerTable))
    }

    private mutating func register(_ column: WorkloadTable.Column) -> ColumnValue {
        if column.isNullable, random.chance(percent: 5) { return .null }
        let isOdd = random.chance(percent: swarm.oddValuePercent)
        switch column.affinity {
        case .integer, .numeric: return .integer(isOdd ? random.pick(Self.oddIntegers) ?? 0 : number())
        case .text: return .text(isOdd ? random.pick(Self.oddTexts) ?? "" : word())
        case .real: return .real(isOdd ? random.pick(Self.oddReals) ?? 0.5 : real())
        case .any: return any(isOdd)
        }
    }

    private mutating func any(_ isOdd: Bool) -> ColumnValue {
        switch random.int(in: 0...3) {
        case 0: .integer(isOdd ? random.pick(Self.oddIntegers) ?? 0 : number())
        case 1: .blob(isOdd ? [] : Array("b\(number())".utf8))
        case 2: .real(isOdd ? random.pick(Self.oddReals) ?? 0.5 : real())
        default: .text(isOdd ? random.pick(Self.oddTexts) ?? "" : word())
        }
    }

    // Where there are few values, many are equal in SQLite's comparisons, and yet others: 1 and 1.0, 0.0 and -0.0, v1 and V1.
    private var areFew: Bool { swarm.valueVariety < 1_000 }

    /// A number that nobody else writes, or one of a few.
    private mutating func number() -> Int64 {
        areFew ? Int64(random.int(in: 0...swarm.valueVariety - 1)) : Int64(count)
    }

    private mutating func real() -> Double {
        let number = Double(number())
        if !areFew { return number + 0.25 }
        return random.chance(percent: 30) ? -number : number
    }

    private mutating func word() -> String {
        let letter = areFew && random.chance(percent: 30) ? "V" : "v"
        return "\(letter)\(number())"
    }

    private mutating func set() -> ColumnValue {
        var elements: [String] = []
        for element in Self.elements where random.chance(percent: 30) { elements.append("\"\(element)\"") }
        return .text("[" + elements.joined(separator: ",") + "]")
    }

    private mutating func element() -> String { random.pick(Self.elements) ?? "a" }

    /// Sorted by their bytes.
    private static let elements = ["a", "b", "c", "d", "e\u{301}", "\u{e9}"]

    private static let oddIntegers: [Int64] = [.min, .max, -1, 0, 1 << 53, (1 << 53) + 1, 127, 128, 255, 256, 65_535, -32_769]
    private static let oddReals: [Double] = [
        0.1, -1e300, .leastNonzeroMagnitude, .infinity, -.infinity, 9_007_199_254_740_993.5, .greatestFiniteMagnitude, 1.0 / 3.0,
    ]
    private static let oddTexts = [
        "", " ", "e\u{301}", "\u{e9}", "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}", "it's", "NULL", "\u{202e}abc", "ß", "\u{fb01}",
        String(repeating: "x", count: 300),
    ]
}
