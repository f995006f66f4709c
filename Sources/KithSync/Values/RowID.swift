import KithCausality

/// The primary key of a tracked row: a UUID, made at creation and final at once. Compared as bytes.
public struct RowID: Identifier128 {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
