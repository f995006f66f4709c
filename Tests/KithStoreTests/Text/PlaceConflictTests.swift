import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import KithText
import TestSupport
import Testing

@Suite("Two edits of one place become silent nonsense")
struct PlaceConflictTests {
    /// What a conflict says on every store; who its authors are is what each has heard.
    private struct Said: Hashable {
        let lines: Conflict.Lines
        let versions: [ColumnValue]
        let stamps: [Stamp]
    }

    private static func said(_ store: TextStore, row: UInt64 = 1) throws -> [Said] {
        let conflicts = try store.inner.database.read { try store.store.textConflicts($0, table: "page", id: rowID(row), column: "body") }
        #expect(try store.store.conflicts(table: "page", id: rowID(row)) == conflicts)
        #expect(try store.store.conflicts().filter { $0.row == rowID(row) }.count == conflicts.count)
        return conflicts.compactMap { conflict in
            guard case .text(let lines) = conflict.kind else { return nil }
            return Said(lines: lines, versions: conflict.versions.map(\.value), stamps: conflict.versions.map(\.stamp))
        }
    }

    private static func text(_ value: ColumnValue) -> String? {
        if case .text(let bytes) = value { String(decoding: bytes, as: UTF8.self) } else { nil }
    }

    /// Two of three stores that know the page have changed the train, and nobody has heard of it.
    private static func apart(_ backend: Backend = .memory) throws -> [TextStore] {
        let stores = try [TextStore(1, backend), TextStore(2, backend), TextStore(3, backend)]
        try stores[0].insert("Trip\nTrain: 9:00\nBuy milk\n")
        for store in stores.dropFirst() { try store.receive(from: stores[0]) }
        try stores[0].save("Trip\nTrain: 10:30\nBuy milk\n")
        try stores[1].save("Trip\nTrain: 8:15\nBuy milk\n")
        return stores
    }

    private static func meet(_ stores: [TextStore]) throws {
        for _ in 0..<2 {
            for store in stores {
                for other in stores { try store.receive(from: other) }
            }
        }
        for store in stores {
            try store.expectSound()
            #expect(try store.body() == stores[0].body())
            #expect(try store.store.digest() == stores[0].store.digest())
        }
    }

    private static func resolve(_ store: TextStore, _ conflict: Conflict, keeping text: String) throws {
        try store.inner.database.write { try store.store.resolveTextConflict($0, conflict, keeping: text) }
    }

    @Test(arguments: [[0, 1, 2], [1, 0, 2], [2, 0, 1], [2, 1, 0]])
    func `both versions are listed, the same on three machines, whoever heard of whom first`(_ order: [Int]) throws {
        let stores = try Self.apart()
        for receiver in order {
            for sender in order where sender != receiver { try stores[receiver].receive(from: stores[sender]) }
        }
        try Self.meet(stores)
        let said = try Self.said(stores[0])
        #expect(said.count == 1)
        #expect(said.first?.lines.before == "Train: 9:00")
        #expect(said.first?.lines.shown == (try stores[0].body())?.split(separator: "\n")[1].description)
        #expect(said.first?.versions.map(Self.text) == ["Train: 10:30", "Train: 8:15"])
        #expect(said.first?.stamps.map(\.dot.replica.low) == [1, 2])
        let revisions = try Set(stores[0].revisions().map(\.stamp))
        #expect(said.allSatisfy { $0.stamps.allSatisfy(revisions.contains) })
        for store in stores.dropFirst() { #expect(try Self.said(store) == said) }
        #expect(try stores[0].store.conflicts().first?.versions.map(\.author) == [.own, .unknown])
    }

    @Test(arguments: ["Train: 10:30", "Train: 8:15", "Train: noon", "", nil, "Train: 8:15\nTaxi"])
    func `whoever chooses, it is gone everywhere`(_ choice: String?) throws {
        let stores = try Self.apart()
        try Self.meet(stores)
        let conflict = try #require(try stores[2].store.conflicts().first)
        guard case .text(let lines) = conflict.kind else { throw StoreError(.failed, "no text") }
        // Without a choice it stays as it is, and that is one, too.
        try Self.resolve(stores[2], conflict, keeping: choice ?? lines.shown)
        #expect(try Self.said(stores[2]).isEmpty)
        try Self.meet(stores)
        for store in stores {
            #expect(try Self.said(store).isEmpty)
            #expect(try store.body() == "Trip\n\(choice ?? lines.shown)\nBuy milk\n")
        }
        #expect(throws: StoreError.self) { try Self.resolve(stores[2], conflict, keeping: "too late") }
    }

    @Test func `an edit of the line ends it, an edit elsewhere moves it`() throws {
        let stores = try Self.apart()
        try Self.meet(stores)
        let body = try #require(try stores[0].body())
        let before = try #require(try Self.said(stores[0]).first)
        try stores[0].save("To do\n" + body + "Buy bread\n")
        try Self.meet(stores)
        for store in stores {
            let moved = try #require(try Self.said(store).first)
            #expect(moved.versions == before.versions && moved.stamps == before.stamps)
            #expect(moved.lines.range.lowerBound == before.lines.range.lowerBound + 6)
        }
        try stores[1].save(try #require(try stores[1].body()).replacingOccurrences(of: "Train", with: "Bus"))
        #expect(try Self.said(stores[1]).isEmpty)
        try Self.meet(stores)
        for store in stores { #expect(try Self.said(store).isEmpty) }
    }

    @Test func `it is the same when the history is packed, and when the file is opened again`() throws {
        let folder = try TemporaryFolder()
        let stores = try [TextStore(1, .pool, folder: folder), TextStore(2)]
        try stores[0].insert("Trip\nTrain: 9:00\nBuy milk\n")
        try stores[1].receive(from: stores[0])
        try stores[0].save("Trip\nTrain: 10:30\nBuy milk\n")
        try stores[1].save("Trip\nTrain: 8:15\nBuy milk\n")
        try stores[0].receive(from: stores[1])
        let said = try Self.said(stores[0])
        #expect(said.count == 1)
        for index in 0..<300 {
            try stores[0].inner.database.write { db in
                try stores[0].store.editText(
                    db, table: "page", id: rowID(1), column: "body", [.insert("x", at: 0)])
            }
            if index == 200 { try stores[0].store.packTexts() }
        }
        let later = try Self.said(stores[0])
        #expect(later.map(\.versions) == said.map(\.versions) && later.map(\.stamps) == said.map(\.stamps))
        try stores[0].expectSound()
    }

    @Test func `texts that were never changed at once are not looked at, and those that were not for long`() throws {
        let pair = try TextPair("start")
        try pair.a.save("start and go")
        try pair.meet()
        try pair.b.save("restart and go")
        try pair.meet()
        #expect(try pair.a.count("SELECT count(*) FROM kith_text") == 1)
        #expect(try pair.a.count("SELECT count(*) FROM kith_text_merged") == 0)
        try pair.a.save("restart and go on")
        try pair.b.save("I restart and go")
        try pair.meet()
        #expect(try pair.a.count("SELECT count(*) FROM kith_text_merged") == 1)
        #expect(try pair.a.store.conflicts().isEmpty)
        #expect(try pair.a.count("SELECT count(*) FROM kith_text_merged") == 0)
        try pair.a.save("go")
        try pair.b.save("stay")
        try pair.meet()
        #expect(try pair.a.store.conflicts().count == 1)
        #expect(try pair.a.count("SELECT count(*) FROM kith_text_merged") == 1)
        try pair.a.expectSound()
    }

    @Test func `a row that is deleted has none, and one that is restored begins without`() throws {
        let stores = try Self.apart()
        try Self.meet(stores)
        try stores[0].delete()
        #expect(try stores[0].store.conflicts().isEmpty)
        try Self.meet(stores)
        #expect(try stores[1].store.conflicts().isEmpty)
        try stores[1].insert("Trip\nTrain: 8:15\n")
        try Self.meet(stores)
        for store in stores { #expect(try store.store.conflicts().isEmpty) }
    }

    @Test func `two new pages under one id that make one line of two are told`() throws {
        let (a, b) = (try TextStore(1), try TextStore(2))
        try a.insert("from a. ")
        try b.insert("from b. ")
        try Self.meet([a, b])
        #expect(try Self.said(a).map { $0.versions.map(Self.text) } == [["from a. ", "from b. "]])
        #expect(try Self.said(a) == Self.said(b))
    }

    @Test func `random edits on three machines leave the same conflicts everywhere`() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<Soak.count(5, soaking: 500) {
            let stores = try [TextStore(1), TextStore(2), TextStore(3)]
            try stores[0].insert("one two\nthree four\nfive\n")
            for store in stores.dropFirst() { try store.receive(from: stores[0]) }
            for _ in 0..<30 {
                let store = stores[Int.random(in: 0..<3, using: &generator)]
                if Int.random(in: 0..<3, using: &generator) == 0 {
                    try store.receive(from: stores[Int.random(in: 0..<3, using: &generator)])
                } else {
                    let body = Array(try #require(try store.body()).unicodeScalars)
                    let start = Int.random(in: 0...body.count, using: &generator)
                    let end = min(body.count, start + [0, 0, 2, 5][Int.random(in: 0..<4, using: &generator)])
                    let word = ["x", "new ", "\nline", ""][Int.random(in: 0..<4, using: &generator)]
                    var view = String.UnicodeScalarView()
                    view.append(contentsOf: body[..<start] + Array(word.unicodeScalars) + body[end...])
                    try store.save(String(view))
                }
            }
            try Self.meet(stores)
            let said = try Self.said(stores[0])
            for store in stores.dropFirst() { #expect(try Self.said(store) == said) }
            while let conflict = try stores[1].store.conflicts().first { try Self.resolve(stores[1], conflict, keeping: "chosen") }
            try Self.meet(stores)
            for store in stores { #expect(try Self.said(store).isEmpty) }
        }
    }
}
