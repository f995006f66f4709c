import KithCausality
import KithStore
import KithSync
import KithTrust
import Logging
import Synchronization

/// Tells the store what the other devices durably hold, and lets it remove what nobody needs any more.
///
/// What sessions report is gathered and written down now and then, for it changes with every commit. That a device is back is
/// written at once: garbage must not be collected past one that is connected.
final class Upkeep: Sendable {
    /// How often news of the devices is written down.
    static let noteMilliseconds: Int64 = 60_000
    /// How soon it is written down that a device holds all that it was to get: people wait for this.
    static let settledMilliseconds: Int64 = 1_000

    private struct State {
        /// Which session of a connected device counts: one that gave way to it may say something later.
        var sessions: [DeviceID: SessionRouter.SessionID] = [:]
        /// What the connected devices said last.
        var connected: [DeviceID: PeerStatus] = [:]
        /// What is not written down yet.
        var news: [DeviceID: PeerStatus] = [:]
        /// The members, if they are not written down yet.
        var members: [[UInt8]]?
        /// What was written down last.
        var noted: [DeviceID: PeerStatus] = [:]
    }

    private let store: SyncedDatabase
    private let events: EventBoard
    private let logger: Logger
    private let state = Mutex(State())
    /// Held while something is written down, so that what is older is not written later.
    private let writing = Mutex(())
    /// Rings when something may be due.
    private let alarm = Alarm()

    init(_ store: SyncedDatabase, _ events: EventBoard = EventBoard(), logger: Logger) {
        self.store = store
        self.events = events
        self.logger = logger
    }

    // MARK: What happens

    func trust(_ devices: [TrustedDevice]) {
        state.withLock { $0.members = devices.map { Array($0.id.bytes) } }
        // A device under a new key may have spoken before it is a member here.
        note()
    }

    func connected(_ device: DeviceID, by session: SessionRouter.SessionID) {
        state.withLock { $0.sessions[device] = session }
    }

    func heard(_ device: DeviceID, _ status: PeerStatus, of session: SessionRouter.SessionID) {
        let (isBack, isDue) = state.withLock { state in
            guard state.sessions[device] == session else { return (false, false) }
            let isBack = state.connected.updateValue(status, forKey: device) == nil
            // An idle peer says the same again and again; when it was last seen is written down when it goes.
            let isKnown = state.news[device] == nil && state.noted[device].map { status.says(theSameAs: $0) } == true
            if isBack || !isKnown { state.news[device] = status }
            return (isBack, state.news[device].map { $0.isSettled(since: state.noted[device]) } ?? false)
        }
        if isBack { note() } else if isDue { alarm.ring() }
    }

    func disconnected(_ device: DeviceID) {
        state.withLock { state in
            state.sessions[device] = nil
            if let status = state.connected.removeValue(forKey: device) { state.news[device] = status }
        }
    }

    // MARK: What is done

    /// Runs until the task is cancelled. Between two notes it sleeps, unless something has settled.
    func run() async {
        let start = MonotonicClock.now
        var nextNote = start.advanced(byMilliseconds: Self.noteMilliseconds)
        var garbage = GarbageTurn(first: nextNote, now: start, wallClockMilliseconds: MonotonicClock.wallClockMilliseconds)
        attempt("texts that came before cannot be merged") { try store.takeTextTurns() }
        while !Task.isCancelled {
            await alarm.sleep(until: nextNote)
            if MonotonicClock.now < nextNote {
                // What settles within a second is written together.
                try? await Task.sleep(for: .milliseconds(Self.settledMilliseconds))
                noteSettled()
                continue
            }
            note()
            noteDigest()
            let now = MonotonicClock.now
            nextNote = now.advanced(byMilliseconds: Self.noteMilliseconds)
            let isDue = garbage.begins(
                now: now, wallClockMilliseconds: MonotonicClock.wallClockMilliseconds, offsets: clockOffsets,
                isAlone: (try? store.members().isEmpty) ?? false)
            if isDue, !Task.isCancelled { collectGarbage() }
        }
        note()
    }

    /// How far the clocks of the connected devices are ahead of this one, in milliseconds.
    private var clockOffsets: [Int64] { state.withLock { $0.connected.values.map { $0.clockOffsetMilliseconds ?? 0 } } }

    /// Writes down what is new.
    func note() {
        note { _, _ in true }
    }

    /// Writes down which devices durably hold all that they know, if that is new.
    func noteSettled() {
        note { status, noted in status.isSettled(since: noted) }
    }

    private func note(_ isDue: (PeerStatus, _ noted: PeerStatus?) -> Bool) {
        let isFailing = writing.withLock { _ in !write(isDue) }
        if isFailing { alarm.ring() }
    }

    /// Returns whether nothing is left that could not be written.
    private func write(_ isDue: (PeerStatus, _ noted: PeerStatus?) -> Bool) -> Bool {
        var isFailing = !noteMembers()
        let due = state.withLock { state in state.news.filter { isDue($0.value, state.noted[$0.key]) } }
        for (device, status) in due {
            var isMember = false
            let isNoted = attempt("what a device holds cannot be stored") {
                isMember = try store.noteMember(Array(device.bytes), replica: status.replica, durable: status.durable)
            }
            guard isNoted else {
                isFailing = true
                continue
            }
            state.withLock { state in
                // A connected one that is no member yet may soon be one: then it is written.
                if isMember { state.noted[device] = status } else if state.connected[device] != nil { return }
                // It may have said more meanwhile.
                if state.news[device] == status { state.news[device] = nil }
            }
        }
        return !isFailing
    }

    /// Lets later looks notice damage to what was written, also where there is nobody to compare with.
    private func noteDigest() {
        attempt("the digest of what was written cannot be stored") { try store.noteDigest() }
    }

    /// Returns whether nothing is left to be noted.
    private func noteMembers() -> Bool {
        guard let members = state.withLock(\.members) else { return true }
        let isNoted = attempt("the members of the group cannot be stored") { try store.setMembers(members) }
        guard isNoted else { return false }
        state.withLock { state in
            if state.members == members { state.members = nil }
        }
        return true
    }

    /// Removes what was deleted and is needed by nobody. Who is connected is not silent, however long nothing changed.
    func collectGarbage() {
        state.withLock { state in state.news.merge(state.connected) { new, _ in new } }
        note()
        let collection = events.begin(.garbage)
        defer { collection.fail("Garbage cannot be collected.") }
        attempt("garbage cannot be collected") {
            let count = try store.collectGarbage()
            collection.progress(rows: count, tells: false)
            collection.end()
            if count > 0 { logger.debug("deleted rows were removed for good", metadata: ["rows": "\(count)"]) }
        }
    }

    /// Returns whether it was done; what fails is tried again later.
    @discardableResult
    private func attempt(_ failure: Logger.Message, _ body: () throws -> Void) -> Bool {
        do {
            try body()
            return true
        } catch {
            logger.warning(failure, metadata: ["reason": "\(error)"])
            return false
        }
    }
}

extension PeerStatus {
    /// Whether the device durably holds all that it knows, and this is not written down yet.
    fileprivate func isSettled(since noted: PeerStatus?) -> Bool {
        isInSync && durable.covers(vector) && noted?.durable != durable
    }

    /// Whether a store would note the same of both.
    fileprivate func says(theSameAs other: PeerStatus) -> Bool {
        replica == other.replica && durable == other.durable
    }
}
