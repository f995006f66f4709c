import KithCausality

/// Who made a change, to order concurrent insertions at one place.
struct Authorship {
    let dot: Dot
    /// The change's first event.
    let start: Int
    let isRestart: Bool

    /// The global name of an event: the same on every device.
    struct EventName: Comparable {
        let dot: Dot
        let index: Int

        static func < (left: EventName, right: EventName) -> Bool {
            left.dot == right.dot ? left.index < right.index : left.dot < right.dot
        }
    }

    func name(of event: Int) -> EventName {
        EventName(dot: dot, index: event - start)
    }
}

extension EventGraph {
    func authorship(of event: Int) -> Authorship {
        let index = changeIndex(of: event)
        return Authorship(
            dot: dot(ofChange: index), start: changes[index].start, isRestart: isRestart(change: index))
    }
}
