import KithCausality

/// A change as one device numbers it: everything but its operations.
///
/// Each device numbers the inserted and deleted scalars (events) of a text in the order in which changes arrived,
/// parents first, from 0. One change takes `length` consecutive numbers. These numbers never leave the device.
public struct TextChangeHeader: Hashable, Sendable {
    /// The number of the change's first event.
    public let firstEvent: Int
    /// How many events it has: scalars inserted and deleted.
    public let length: Int
    /// The commit that made it.
    public let dot: Dot
    /// The last event of each parent, ascending.
    public var parents: [Int] { Array(parentEvents) }
    let parentEvents: EventVersion
    /// See ``TextChange/isRestart``.
    public let isRestart: Bool

    public init(firstEvent: Int, length: Int, dot: Dot, parents: [Int], isRestart: Bool = false) {
        self.init(firstEvent: firstEvent, length: length, dot: dot, parents: EventVersion(parents), isRestart: isRestart)
    }

    init(firstEvent: Int, length: Int, dot: Dot, parents: EventVersion, isRestart: Bool) {
        self.firstEvent = firstEvent
        self.length = length
        self.dot = dot
        parentEvents = parents
        self.isRestart = isRestart
    }

    /// The number of the change's last event, which stands for the version the change made.
    public var lastEvent: Int { firstEvent + length - 1 }

    /// The number after the last event.
    public var end: Int { firstEvent + length }
}
