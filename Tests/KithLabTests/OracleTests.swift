import KithCausality
import Testing

@testable import KithLab

/// A history written by hand: each write names those that its author had seen.
private struct History {
    var writes: [WriteRecord] = []
    var vectors: [VersionVector]

    init(nodes: Int) { vectors = .init(repeating: VersionVector(), count: nodes) }

    /// - Parameter shown: what the author saw in the field.
    mutating func write(
        _ node: Int, _ change: Scenario.Change, shown: String? = nil, outcome: WriteRecord.Outcome = .acknowledged,
        arrivesMeanwhile: VersionVector? = nil
    ) {
        var write = WriteRecord(index: writes.count, node: node, note: "n", change: change, startedMilliseconds: Int64(writes.count * 10))
        write.endedMilliseconds += 5
        write.outcome = outcome
        write.shownBefore = shown
        write.before = vectors[node]
        if outcome == .acknowledged {
            let replica = ReplicaID(high: 0, low: UInt64(node + 1))
            let dot = Dot(replica: replica, sequence: vectors[node][replica] + 1)
            vectors[node].insert(dot)
            write.dot = dot
        }
        if let arrivesMeanwhile { vectors[node].join(arrivesMeanwhile) }
        write.after = vectors[node]
        writes.append(write)
    }

    /// Everything that the first knows reaches the second.
    mutating func send(_ from: Int, _ to: Int) { vectors[to].join(vectors[from]) }

    func rules(_ note: FinalState.Note?) -> [Finding.Rule] {
        rules(note.map { ["id": $0] } ?? [:], ids: ["n": "id"])
    }

    /// - Parameter ids: of those notes of which a command said it.
    func rules(_ notes: [String: FinalState.Note], ids: [String: String]) -> [Finding.Rule] {
        Oracle(writes: writes, noteIDs: ids, nodeNames: ["a", "b", "c"]).findings(FinalState(notes: notes)).map(\.rule)
    }
}

extension FinalState.Note {
    fileprivate init(_ title: String, body: String = "", tags: [String] = [], kept: [String] = []) {
        self.init(title: title, body: body, color: "none", tags: tags, alternatives: kept.isEmpty ? [:] : [.title: kept])
    }
}

@Suite("The oracle tells what is lost from what was overwritten")
struct OracleTests {
    @Test func `a value that nobody saw must be shown or kept`() {
        var history = History(nodes: 2)
        history.write(0, .add(title: "one"))
        history.send(0, 1)
        history.write(0, .title("two"), shown: "one")
        history.write(1, .title("three"), shown: "one")
        #expect(history.rules(.init("two", kept: ["three"])) == [])
        #expect(history.rules(.init("three", kept: ["two"])) == [])
        #expect(history.rules(.init("two")) == [.writeLost])
        #expect(history.rules(.init("one")) == [.cameBack, .writeLost, .writeLost])
    }

    @Test func `what was overwritten by who saw it may not come back`() {
        var history = History(nodes: 2)
        history.write(0, .add(title: "one"))
        history.send(0, 1)
        history.write(1, .title("two"), shown: "one")
        #expect(history.rules(.init("two")) == [])
        #expect(history.rules(.init("two", kept: ["one"])) == [.cameBack])
        #expect(history.rules(.init("one")) == [.cameBack, .writeLost])
    }

    @Test func `a save replaces only what was shown`() {
        var history = History(nodes: 2)
        history.write(0, .add(title: "one"))
        history.send(0, 1)
        history.write(0, .title("two"), shown: "one")
        history.write(1, .title("three"), shown: "one")
        history.send(1, 0)
        history.write(0, .title("four"), shown: "three")
        #expect(history.rules(.init("four", kept: ["two"])) == [])
        #expect(history.rules(.init("four")) == [.writeLost])
        #expect(history.rules(.init("four", kept: ["two", "three"])) == [.cameBack])
    }

    @Test func `what arrived while the command ran may have been seen or not`() {
        var history = History(nodes: 2)
        history.write(0, .add(title: "one"))
        history.send(0, 1)
        history.write(1, .title("two"), shown: "one")
        history.write(0, .title("three"), shown: "one", arrivesMeanwhile: history.vectors[1])
        #expect(history.rules(.init("three")) == [])
        #expect(history.rules(.init("three", kept: ["two"])) == [])
        #expect(history.rules(.init("two", kept: ["three"])) == [])
    }

    @Test func `a killed command may have written or not`() {
        var history = History(nodes: 1)
        history.write(0, .add(title: "one"))
        history.write(0, .title("two"), shown: "one", outcome: .unknown)
        #expect(history.rules(.init("one")) == [])
        #expect(history.rules(.init("two")) == [])
        #expect(history.rules(.init("three")) == [.neverWritten])
    }

    @Test func `an acknowledged write that made no commit is lost unless its value was there`() {
        var history = History(nodes: 1)
        history.write(0, .add(title: "one"))
        history.write(0, .title("two"), shown: "one", outcome: .unknown)
        history.writes[1].outcome = .acknowledged
        history.writes[1].madeNoCommit = true
        #expect(history.rules(.init("one")) == [.writeLost])
        // Nobody can have seen it, so nobody has overwritten it.
        history.write(0, .title("three"), shown: "one")
        #expect(history.rules(.init("three")) == [.writeLost])
        history.writes[1].shownBefore = "two"
        #expect(history.writes[1].changedNothing)
    }

    @Test func `a refused write may not show`() {
        var history = History(nodes: 1)
        history.write(0, .add(title: "one"))
        history.write(0, .title("two"), shown: "one", outcome: .refused("disk full"))
        #expect(history.rules(.init("one")) == [])
        #expect(history.rules(.init("two")) == [.writeLost, .neverWritten])
    }

    @Test func `a note that nobody added is found`() {
        var history = History(nodes: 1)
        history.write(0, .add(title: "one"))
        #expect(history.rules(["id": .init("one"), "other": .init("two")], ids: ["n": "id"]) == [.neverWritten])
        #expect(history.rules(["id": .init("one"), "other": .init("one")], ids: ["n": "id"]) == [.neverWritten])
        #expect(history.rules(["other": .init("one")], ids: ["n": "id"]) == [.writeLost, .neverWritten])
    }

    @Test func `a note whose command was killed may be there once as it was added`() {
        var history = History(nodes: 1)
        history.write(0, .add(title: "one"), outcome: .unknown)
        #expect(history.rules([:], ids: [:]) == [])
        #expect(history.rules(["x": .init("one")], ids: [:]) == [])
        #expect(history.rules(["x": .init("one"), "y": .init("one")], ids: [:]) == [.neverWritten])
        #expect(history.rules(["x": .init("one", body: "bread")], ids: [:]) == [.neverWritten])
        #expect(history.rules(["x": .init("two")], ids: [:]) == [.neverWritten])
        // Refused is not killed: the command said that it is not done.
        history.writes[0].outcome = .refused("disk full")
        #expect(history.rules(["x": .init("one")], ids: [:]) == [.neverWritten])
    }

    @Test func `a deletion takes only what it saw`() {
        var history = History(nodes: 2)
        history.write(0, .add(title: "one"))
        history.send(0, 1)
        history.write(1, .delete)
        #expect(history.rules(nil) == [])
        #expect(history.rules(.init("one")) == [.cameBack])
        history.write(0, .tag("red"))
        #expect(history.rules(nil) == [.writeLost])
        #expect(history.rules(.init("one", tags: ["red"])) == [])
        history.send(0, 1)
        history.write(1, .delete)
        #expect(history.rules(nil) == [])
    }

    @Test func `a tag stays if it was added unseen`() {
        var history = History(nodes: 2)
        history.write(0, .add(title: "one"))
        history.write(0, .tag("red"))
        history.send(0, 1)
        history.write(1, .untag("red"))
        #expect(history.rules(.init("one")) == [])
        #expect(history.rules(.init("one", tags: ["red"])) == [.cameBack])
        history.write(0, .tag("blue"))
        history.write(1, .untag("blue"))
        #expect(history.rules(.init("one")) == [.writeLost])
        #expect(history.rules(.init("one", tags: ["blue"])) == [])
        #expect(history.rules(.init("one", tags: ["blue", "green"])) == [.neverWritten])
    }

    @Test func `every line is in one of the texts that are kept`() {
        var history = History(nodes: 2)
        history.write(0, .add(title: "one"))
        history.write(0, .line("bread"))
        history.write(1, .line("coffee"))
        var note = FinalState.Note("one", body: "bread")
        #expect(history.rules(note) == [.writeLost])
        note.alternatives[.body] = ["x\n\ncoffee"]
        #expect(history.rules(note) == [.neverWritten])
        note.alternatives[.body] = ["coffee\n"]
        #expect(history.rules(note) == [])
    }

    @Test func `texts that are begun unseen stand one behind the other`() {
        var history = History(nodes: 2)
        history.write(0, .add(title: "one"))
        history.send(0, 1)
        history.write(0, .line("bread"))
        history.write(1, .line("coffee"))
        #expect(history.rules(.init("one", body: "breadcoffee")) == [])
        #expect(history.rules(.init("one", body: "coffeebread")) == [])
        #expect(history.rules(.init("one", body: "breadbread")) == [.writeLost, .writeLost, .neverWritten])
        #expect(history.rules(.init("one", body: "breadcof")) == [.writeLost, .writeLost, .neverWritten])
        // Who has seen a line writes below it.
        history.send(1, 0)
        history.write(0, .line("milk"))
        #expect(history.rules(.init("one", body: "breadcoffee\nmilk")) == [])
        #expect(history.rules(.init("one", body: "breadcoffeemilk")) == [.writeLost, .writeLost, .writeLost, .neverWritten])
    }

    @Test func `a line that begins like another is taken as a whole`() {
        var history = History(nodes: 2)
        history.write(0, .add(title: "one"))
        history.send(0, 1)
        history.write(0, .line("Bread 1"))
        history.write(1, .line("Bread 12"))
        #expect(history.rules(.init("one", body: "Bread 12")) == [.writeLost])
        #expect(history.rules(.init("one", body: "Bread 12Bread 1")) == [])
    }
}
