/// The distinct stamps of a row's registers, in the order in which they are first used, and their numbers.
struct StampTable {
    private(set) var stamps: [Stamp] = []
    /// Filled only when there are more stamps than are searched faster one by one.
    private var numbers: [Stamp: Int] = [:]

    private static let searchedMax = 8

    init(_ row: RowState) {
        for entry in row.cells {
            guard case .register(let state) = entry.cell else { continue }
            for write in state.writes where number(of: write.stamp) == nil { append(write.stamp) }
        }
    }

    func number(of stamp: Stamp) -> Int? {
        stamps.count <= Self.searchedMax ? stamps.firstIndex(of: stamp) : numbers[stamp]
    }

    private mutating func append(_ stamp: Stamp) {
        stamps.append(stamp)
        if stamps.count == Self.searchedMax + 1 {
            for (number, stamp) in stamps.enumerated() { numbers[stamp] = number }
        } else if stamps.count > Self.searchedMax {
            numbers[stamp] = stamps.count - 1
        }
    }
}
