/// Which sightings are looked up right now. Normally all of them, for as long as they are there; when there are more than slots, each
/// gets a turn of a fixed length, first come first served, so that a flood of names cannot keep an honest one from being looked up.
struct LookupRotation: Sendable {
    typealias Instant = ContinuousClock.Instant

    struct Step: Hashable, Sendable {
        var close: [Sighting] = []
        var open: [Sighting] = []
    }

    private let slotsMax: Int
    private let turn: Duration
    private var active: [(sighting: Sighting, since: Instant)] = []
    private var waiting: [(sighting: Sighting, notBefore: Instant)] = []
    private var members: Set<Sighting> = []

    init(slotsMax: Int, turn: Duration) {
        self.slotsMax = slotsMax
        self.turn = turn
    }

    var activeCount: Int { active.count }

    /// Does nothing for a sighting that is there already.
    mutating func insert(_ sighting: Sighting, now: Instant) {
        if members.insert(sighting).inserted { waiting.append((sighting, now)) }
    }

    /// - Returns: whether the sighting was being looked up, so that its look-up must be closed.
    mutating func remove(_ sighting: Sighting) -> Bool {
        guard members.remove(sighting) != nil else { return false }
        waiting.removeAll { $0.sighting == sighting }
        let activeBefore = active.count
        active.removeAll { $0.sighting == sighting }
        return active.count < activeBefore
    }

    mutating func removeAll() {
        active = []
        waiting = []
        members = []
    }

    /// The look-up of `sighting` has failed and is closed; it waits for a turn before it is tried again.
    mutating func failed(_ sighting: Sighting, now: Instant) {
        guard let index = active.firstIndex(where: { $0.sighting == sighting }) else { return }
        active.remove(at: index)
        waiting.append((sighting, now + turn))
    }

    /// What is to be closed and opened now.
    mutating func advance(now: Instant) -> Step {
        var step = Step()
        while let next = waiting.firstIndex(where: { $0.notBefore <= now }) {
            if active.count >= slotsMax {
                guard let longest = active.first, longest.since + turn <= now else { break }
                active.removeFirst()
                step.close.append(longest.sighting)
                waiting.append((longest.sighting, now + turn))
            }
            let sighting = waiting.remove(at: next).sighting
            step.open.append(sighting)
            active.append((sighting, now))
        }
        return step
    }

    /// When `advance` can next have something to do, or nil if only after another change.
    var nextStep: Instant? {
        guard let ready = waiting.map(\.notBefore).min() else { return nil }
        guard active.count >= slotsMax, let longest = active.first else { return ready }
        return max(ready, longest.since + turn)
    }
}
