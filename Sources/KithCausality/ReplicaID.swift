/// The name of one incarnation of one store: 128 random bits.
///
/// A store that was copied or restored is a *new* replica, so that a dot never names two contents.
public struct ReplicaID: Identifier128 {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
