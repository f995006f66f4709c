import KithCausality

/// Compares the digests of two stores that know the same, finds the rows that differ, and has them mended on both sides.
///
/// One side leads, the one with the lower replica id: it asks, one question at a time, and narrows ranges of rows down by
/// their sums (range-based set reconciliation; Meyer, 2023). The other only answers. Whatever does not fit, because a
/// vector has moved or a store has no digest, ends the comparison, and a later one begins anew. Questions and mended rows
/// of one comparison are limited, and so is the number of comparisons that find a difference, so that a peer that lies
/// costs little.
struct DigestComparison: Hashable, Sendable {
    /// What is to be done next.
    enum Step: Hashable, Sendable {
        case perform(DigestTask)
        case send(Frame)
    }

    private enum State: Hashable, Sendable {
        case resting
        /// The store reads the digest; for the leader, or in answer to the leader's.
        case reading(StoreDigest?)
        /// The leader has told its digest.
        case asked(StoreDigest)
        case dividing(DigestRange)
        case summing(DigestRange, [DigestPart])
        case fetching(DigestRange)
        case mending(DigestRange)
        /// The follower works on an answer.
        case answering(DigestRange)
        /// The follower has sent rows, and may get the leader's.
        case offered(DigestRange)
    }

    private struct Item: Hashable, Sendable {
        let range: DigestRange
        let isFetched: Bool
    }

    /// Questions in one comparison.
    static let questionsMax = 256
    /// A range with at most so many rows is exchanged as rows.
    static let leafRowsMax: UInt64 = 64
    /// After so many comparisons in a row that found a difference, the pause before the next one doubles each time. Mending may bring
    /// nothing, or write a commit each time: two apps whose columns make different values of the same would do so without end.
    static let differencesMax = 8
    /// The longest of these pauses.
    static let pauseMillisecondsMax: Int64 = 3_600_000
    /// Positions of mended rows that are kept for people.
    static let namesMax = 16

    let isLeader: Bool
    private let timing: SessionTiming
    private var state = State.resting
    /// The vector of the comparison under way.
    private var vector = VersionVector()
    private var work: [Item] = []
    private var questions = 0
    /// How many comparisons in a row, up to the last one, found a difference.
    private var differences = 0
    /// When the leader looks again, and when it gives up waiting.
    private var due: Instant
    /// A question that came while rows were mended.
    private var early: Frame?
    /// The vector at which both were last found equal.
    private var agreed: VersionVector?
    /// When the leader looks again although nothing was written since.
    private var again = Instant.never

    /// Whether both stores held the same when they were last compared; `nil` if they never were.
    private(set) var isIdentical: Bool?
    /// Rows that were mended here in this session, and the last of them.
    private(set) var mendedCount: UInt64 = 0
    private(set) var mended: [SlicePosition] = []

    init(isLeader: Bool, now: Instant, timing: SessionTiming) {
        self.isLeader = isLeader
        self.timing = timing
        due = now.advanced(byMilliseconds: timing.digestDelayMilliseconds)
    }

    /// When time alone makes a difference.
    func deadline(for current: VersionVector) -> Instant? {
        switch state {
        case .resting where isLeader: nextComparison(at: current)
        case .asked, .dividing, .fetching: due
        case .reading(.some): due
        default: nil
        }
    }

    // MARK: What happens

    /// Looks whether it is time to compare. `isQuiet`: both know the same, and nothing is under way.
    mutating func tick(_ now: Instant, knowing current: VersionVector, isQuiet: Bool) -> [Step] {
        switch state {
        case .resting where isLeader:
            guard isQuiet, nextComparison(at: current) <= now else { return [] }
            state = .reading(nil)
            due = .never
            return [.perform(.read)]
        case _ where due > now:
            return []
        case .reading(.some):
            due = .never
            return [.perform(.read)]
        case .asked, .dividing, .fetching:
            // No answer: the peer has no digest, or the question crossed a change.
            rest(now)
            return []
        default:
            return []
        }
    }

    /// Rows of this store were mended with another peer's, so that they may be others than those of this one. Who does not lead tells it.
    mutating func changed() -> [Step] {
        guard isIdentical == true else { return [] }
        forget()
        guard !isLeader, case .resting = state else { return [] }
        state = .reading(nil)
        due = .never
        return [.perform(.read)]
    }

    private mutating func forget() {
        isIdentical = nil
        agreed = nil
    }

    /// The store has answered.
    mutating func done(_ result: DigestResult, _ now: Instant) throws(CloseReason) -> [Step] {
        switch (state, result) {
        case (.reading(let theirs), .read(let digest, let isBehind)):
            return read(digest, isBehind: isBehind, theirs, now)
        case (.summing(let range, let parts), .sums(let sums)):
            return narrow(range, parts, sums, now)
        case (.answering(let range), .parts(let parts)):
            state = .resting
            return [.send(.digestParts(vector, range, parts))]
        case (.answering(let range), .rows(let slice)) where !slice.rows.contains(where: \.state.isTooLargeToSend):
            let covered = slice.covered(of: range)
            state = .offered(covered)
            return [.send(.digestRows(covered, slice))]
        case (.mending(let range), .mended(let own, let changed)):
            note(changed)
            guard isLeader else {
                state = .resting
                guard let question = early else { return [] }
                early = nil
                return try receive(question, now)
            }
            let isSent = !own.rows.contains(where: \.state.isTooLargeToSend)
            return (isSent ? [.send(.digestRows(own.covered(of: range), own))] : []) + next(now)
        case (.answering(let range), _):
            state = .resting
            return [.send(.digestParts(vector, range, []))]
        case (.mending, _) where !isLeader:
            state = .resting
            early = nil
            return []
        default:
            rest(now)
            return []
        }
    }

    /// The peer has sent something.
    mutating func receive(_ frame: Frame, _ now: Instant) throws(CloseReason) -> [Step] {
        switch (frame, state) {
        case (.digest(let theirs, wantsAnswer: false), .asked(let mine)) where isLeader:
            return compare(mine, theirs, now)
        case (.digest, .resting) where isLeader:
            // It has mended rows since both were found equal.
            forget()
            return []
        case (.digest(let theirs, wantsAnswer: true), .resting) where !isLeader,
            (.digest(let theirs, wantsAnswer: true), .offered) where !isLeader:
            vector = theirs.vector
            questions = 0
            state = .reading(theirs)
            due = .never
            return [.perform(.read)]
        case (.digestQuestion(let at, let range, let wantsRows), .resting) where !isLeader,
            (.digestQuestion(let at, let range, let wantsRows), .offered) where !isLeader:
            questions += 1
            guard questions <= Self.questionsMax else { throw Self.violation("more questions than one comparison needs") }
            vector = at
            state = .answering(range)
            return [.perform(wantsRows ? .readRows(range, at: at) : .divide(range, at: at))]
        case (.digestQuestion, .mending) where !isLeader && early == nil:
            early = frame
            return []
        case (.digestParts(let at, let range, let parts), .dividing(let asked)) where isLeader && asked == range:
            guard at == vector, !parts.isEmpty else {
                rest(now)
                return []
            }
            guard range.isDivided(into: parts) else { throw Self.violation("parts of a range that do not follow each other") }
            state = .summing(range, parts)
            due = .never
            return [.perform(.sum(range, parts, at: at))]
        case (.digestParts(_, let range, _), .fetching(let asked)) where isLeader && asked == range:
            rest(now)
            return []
        case (.digestRows(let covered, let slice), .fetching(let range)) where isLeader && range.begins(with: covered):
            guard slice.vector == vector else {
                rest(now)
                return []
            }
            state = .mending(covered)
            due = .never
            return [.perform(.mend(covered, with: slice))]
        case (.digestRows(let covered, let slice), .offered(let range)) where range.begins(with: covered):
            state = .mending(covered)
            return [.perform(.mend(covered, with: slice))]
        case (.digest, _), (.digestParts, _), (.digestRows, _):
            // An answer that comes too late, or a question that is asked again.
            return []
        default:
            throw Self.violation("a question before the last one was answered")
        }
    }

    // MARK: Parts

    /// When the leader compares next, if nothing is under way.
    private func nextComparison(at current: VersionVector) -> Instant {
        agreed == current ? max(again, due) : due
    }

    private mutating func read(_ digest: StoreDigest?, isBehind: Bool, _ theirs: StoreDigest?, _ now: Instant) -> [Step] {
        guard let digest else {
            if isBehind, theirs != nil {
                due = now.advanced(byMilliseconds: timing.digestStepMilliseconds)
            } else {
                rest(now, forMilliseconds: isBehind ? timing.digestStepMilliseconds : timing.digestMilliseconds)
            }
            return []
        }
        if let theirs {
            state = .resting
            if digest.vector == theirs.vector { isIdentical = digest.rows == theirs.rows }
            return [.send(.digest(digest, wantsAnswer: false))]
        }
        guard isLeader else {
            state = .resting
            return [.send(.digest(digest, wantsAnswer: false))]
        }
        state = .asked(digest)
        due = now.advanced(byMilliseconds: timing.digestAnswerMilliseconds)
        return [.send(.digest(digest, wantsAnswer: true))]
    }

    private mutating func compare(_ mine: StoreDigest, _ theirs: StoreDigest, _ now: Instant) -> [Step] {
        guard mine.vector == theirs.vector else {
            rest(now)
            return []
        }
        isIdentical = mine.rows == theirs.rows
        if mine.rows == theirs.rows {
            agreed = mine.vector
            again = now.advanced(byMilliseconds: timing.digestAgainMilliseconds)
            differences = 0
            rest(now)
            return []
        }
        agreed = nil
        differences += 1
        vector = mine.vector
        questions = 0
        work = [Item(range: DigestRange(), isFetched: false)]
        return next(now)
    }

    /// Keeps the parts that differ.
    private mutating func narrow(_ range: DigestRange, _ parts: [DigestPart], _ sums: [DigestSum], _ now: Instant) -> [Step] {
        var after = range.after
        for (part, own) in zip(parts, sums) {
            let piece = DigestRange(after: after, through: part.through)
            after = part.through
            if part.rows == own { continue }
            let isLeaf = part.rows.count <= Self.leafRowsMax || own.count == 0
            // A single part is no narrower than what was asked for.
            if isLeaf || parts.count > 1 { work.append(Item(range: piece, isFetched: isLeaf)) }
        }
        return next(now)
    }

    private mutating func next(_ now: Instant) -> [Step] {
        guard let item = work.popLast(), questions < Self.questionsMax else {
            rest(now)
            return []
        }
        questions += 1
        state = item.isFetched ? .fetching(item.range) : .dividing(item.range)
        due = now.advanced(byMilliseconds: timing.digestAnswerMilliseconds)
        return [.send(.digestQuestion(vector, item.range, wantsRows: item.isFetched))]
    }

    private mutating func note(_ changed: [SlicePosition]) {
        mendedCount += UInt64(changed.count)
        mended = (mended + changed).suffix(Self.namesMax)
    }

    private mutating func rest(_ now: Instant, forMilliseconds pause: Int64? = nil) {
        state = .resting
        work = []
        let doublings = min(max(0, differences - Self.differencesMax), 32)
        let usual =
            differences == 0
            ? timing.digestMilliseconds : min(timing.digestDelayMilliseconds << Int64(doublings), Self.pauseMillisecondsMax)
        due = now.advanced(byMilliseconds: pause ?? usual)
    }

    private static func violation(_ what: String) -> CloseReason {
        CloseReason(.protocolError, "While comparing, it sent \(what).")
    }
}

extension DigestRange {
    /// Whether `parts` cover the range, one after the other.
    fileprivate func isDivided(into parts: [DigestPart]) -> Bool {
        guard parts.last?.through == through else { return false }
        var last = after
        for part in parts.dropLast() {
            guard let through = part.through, contains(through), last.map({ $0 < through }) ?? true else { return false }
            last = through
        }
        return true
    }

    /// Whether `covered` is the range or a part of it that begins where it begins.
    fileprivate func begins(with covered: DigestRange) -> Bool {
        covered.after == after && (covered.through == through || covered.through.map(contains) == true)
    }
}

extension Slice {
    /// The part of `range` whose rows the slice has.
    fileprivate func covered(of range: DigestRange) -> DigestRange {
        isLast ? range : DigestRange(after: range.after, through: position ?? range.through)
    }
}

extension Instant {
    fileprivate static let never = Instant(milliseconds: .max)
}
