import KithCausality

/// Where the older changes of a text lie: rows and packed chunks of a store.
///
/// A document asks only for what a merge needs: nothing on the fast path, otherwise the changes since the last
/// version below everything that is concurrent. Every answer is checked; a contradiction ends in
/// ``TextError/damagedHistory(_:)``, never in a trap.
public protocol TextHistory {
    /// Some changes, at least one, of which the last ends just before event number `end`, in the order of this device.
    /// How many is up to the history: a page of rows, a packed chunk.
    func headers(endingAt end: Int) throws -> [TextChangeHeader]

    /// The operations of each change that lies in `events`, in order. The range begins and ends where changes do.
    func operations(in events: Range<Int>) throws -> [TextOperations]

    /// The last event of the change `dot` if this history has it and it lies before event number `end`.
    func lastEvent(of dot: Dot, before end: Int) throws -> Int?
}

/// The history of a document that holds all its changes itself.
public struct NoOlderHistory: TextHistory, Sendable {
    public init() {}

    /// None.
    public func headers(endingAt end: Int) throws -> [TextChangeHeader] { [] }
    /// None.
    public func operations(in events: Range<Int>) throws -> [TextOperations] { [] }
    /// None.
    public func lastEvent(of dot: Dot, before end: Int) throws -> Int? { nil }
}
