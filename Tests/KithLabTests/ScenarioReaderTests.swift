import Foundation
import Testing

@testable import KithLab

@Suite("A scenario file is understood, or says what is wrong with it")
struct ScenarioReaderTests {
    static let good = """
        name: A test
        lasts: 1d
        in: 10s
        nodes:
          desk:
          laptop: {disk: 8MB, clock: -3m, binary: old}
          phone: {}
        topology: chain
        binaries: {old: /opt/kith}
        link: {delay: 5ms}
        links:
          - {between: [phone, laptop], loss: 2%, rate: 1Mbit}
        writes:
          - {by: [desk, laptop], every: 1h, until: 12h, change: [title, tag]}
        events:
          - {at: 2h, cut: [desk, phone]}
          - at: 3h
            write: {on: desk, note: list, add: List, line: bread}
          - {at: 4h, clock: {all: 2h}}
          - {at: 5h, link: {between: [desk, laptop], delay: 1s}}
          - {at: 6h, part: [desk, laptop], kill: phone}
        """

    @Test func `a whole file is read`() throws {
        let scenario = try ScenarioReader.read(Self.good, name: "test")
        #expect(scenario.name == "A test")
        #expect(scenario.nodes.map(\.name) == ["desk", "laptop", "phone"])
        #expect(scenario.nodes[1] == .init(name: "laptop", diskBytes: 8_000_000, clockMilliseconds: -180_000, binary: "old"))
        #expect(scenario.link == .init(delayMilliseconds: 5))
        #expect(scenario.links == [.init(2, 1): .init(delayMilliseconds: 5, lossPercent: 2, bitsPerSecond: 1e6)])
        #expect(
            scenario.workloads == [
                .init(
                    nodes: [0, 1], everyMilliseconds: 3_600_000, fromMilliseconds: 0, untilMilliseconds: 43_200_000, kinds: [.title, .tag])
            ])
        let hour: Int64 = 3_600_000
        #expect(
            scenario.events == [
                .init(atMilliseconds: 2 * hour, action: .cut(0)), .init(atMilliseconds: 2 * hour, action: .cut(2)),
                .init(atMilliseconds: 3 * hour, action: .write(node: 0, note: "list", .add(title: "List"))),
                .init(atMilliseconds: 3 * hour, action: .write(node: 0, note: "list", .line("bread"))),
                .init(atMilliseconds: 4 * hour, action: .clock(0, milliseconds: 2 * hour)),
                .init(atMilliseconds: 4 * hour, action: .clock(1, milliseconds: 2 * hour)),
                .init(atMilliseconds: 4 * hour, action: .clock(2, milliseconds: 2 * hour)),
                .init(atMilliseconds: 5 * hour, action: .link(.init(0, 1), .init(delayMilliseconds: 1_000))),
                .init(atMilliseconds: 6 * hour, action: .kill(2)), .init(atMilliseconds: 6 * hour, action: .part(.init(0, 1))),
            ])
    }

    @Test(
        arguments: [
            ("lasts: 1d\nnodes: [a, b]\nevents:\n  - {at: 1h, cut: c}", 4, "no node"),
            ("lasts: 1d\nnodes: [a, b]\nevents:\n  - {at: 2d, cut: a}", 4, "after the end"),
            ("lasts: 1d\nnodes: [a, b]\nevents:\n  - {cut: a}", 4, "is missing"),
            ("lasts: 1d\nnodes: [a, b]\nevents:\n  - {at: 1h}", 4, "Nothing happens"),
            ("lasts: 1d\nnodes: [a, b]\nevents:\n  - {at: 1h, explode: a}", 4, "explode"),
            ("lasts: 1d\nnodes: [a, b]\nevents:\n  - {at: 1h, part: [a, a]}", 4, "different nodes"),
            (
                "lasts: 1d\nnodes: [a, b, c]\ntopology: star\nevents:\n  - {at: 1h, part: [b, c]}", 5,
                "star there is no link between b and c"
            ),
            ("lasts: 1d\nnodes: [a, b, c, d]\ntopology: ring\nlinks:\n  - {between: [c, a], loss: 1%}", 5, "no link between a and c"),
            ("lasts: 1d\nnodes: {a: {disk: 8MB}, b: }\nevents:\n  - {at: 1h, fill: [a, b]}", 4, "b has no disk of its own"),
            ("lasts: 1d\nnodes: [a, b]\nevents:\n  - {at: 1h, write: {on: a, title: x}}", 4, "note"),
            ("lasts: 1d\nnodes: [a, b]\nevents:\n  - {at: 1h, write: {on: a, note: x}}", 4, "Nothing is written"),
            ("lasts: 1d\nnodes: [a, b]\nevents:\n  - {at: 1h, write: {on: a, note: x, title: y}}", 4, "none is added"),
            (
                "lasts: 1d\nnodes: [a]\nevents:\n  - {at: 1h, write: {on: a, note: list, add: y}}\n  - {at: 2h, write: {on: a, note: lst, tag: t}}",
                5, "No write adds the note \u{201C}lst\u{201D}; added are list"
            ),
            (
                "lasts: 1d\nnodes: [a]\nevents:\n  - {at: 1h, write: {on: a, note: x, tag: t}}\n  - {at: 2h, write: {on: a, note: x, add: y}}",
                4, "before it is added"
            ),
            (
                "lasts: 1d\nnodes: [a]\nevents:\n  - at: 0\n    write:\n      - {on: a, note: x, delete: yes}\n      - {on: a, note: x, add: y}",
                6, "before it is added"
            ),
            ("lasts: 1d\nnodes: [a, b]\nevents:\n  - {at: 1h, write: {on: all, note: x, add: y}}", 4, "more than once"),
            (
                "lasts: 1d\nnodes: [a]\nwrites:\n  - {every: 1h}\nevents:\n  - {at: 1h, write: {on: a, note: note1, add: y}}", 6,
                "more than once"
            ),
            ("lasts: 1d\nnodes: [a, b]\nwrites:\n  - {every: 0}", 4, "more than 0"),
            ("lasts: 1d\nnodes: [a, b]\nwrites:\n  - {every: 1h, change: [shout]}", 4, "shout"),
            ("lasts: 1d\nnodes: [a, b]\nwrites:\n  - {every: 1h, until: 2d}", 4, "after the end"),
            ("lasts: 1d\nnodes: [a, b]\nwrites:\n  - {every: 1ms}", 1, "more than \(Scenario.stepsMax) steps"),
            ("lasts: 1d\nnodes: [a]\nevents:\n  - {at: 1h, write: {on: a, note: x, add: y, attach: big}}", 4, "big"),
            ("lasts: 1d\nnodes: [a]\nevents:\n  - {at: 1h, write: {on: a, note: x, add: y, attach: 65MB}}", 4, "at most 64.0 MB"),
            ("lasts: soon\nnodes: [a, b]", 1, "soon"), ("lasts: 300000d\nnodes: [a, b]", 1, "of ten years at most"),
            ("lasts: 1d\nnodes: [a, b]\nwrites:\n  - {by: a}", 4, "\u{201C}every\u{201D} is missing"),
            (
                "lasts: 1d\nnodes: [a, b]\nlinks:\n  - {between: [a, b], loss: 1%}\n  - {between: [b, a], loss: 2%}", 5, "described twice"
            ),
            ("nodes: [a, b]", 1, "lasts"),
            ("lasts: 1d", 1, "nodes"),
            ("lasts: 1d\nnodes: [a, A]", 2, "no name"),
            ("lasts: 1d\nnodes: [a, a]", 2, "two nodes"),
            ("lasts: 1d\nnodes: [a, b, c, d, e, f, g, h, i, j, k, l, m]", 2, "1 to 12"),
            ("lasts: 1d\nnodes:\n  a: {disk: big}", 3, "big"),
            ("lasts: 1d\nnodes:\n  a: {binary: old}", 1, "old"),
            ("lasts: 1d\nnodes: [a]\ntopology: blob", 3, "blob"),
            ("lasts: 1d\nnodes: [a]\ntrust: blindly", 3, "blindly"),
            ("lasts: 1d\nnodes: [a, b]\ntrust: household\ntopology: chain", 1, "paired with the first"),
            ("lasts: 1d\nnodes: [a]\nseed: x", 3, "number"),
            ("lasts: 1d\nnodes: [a, b]\nlink: {loss: 200%}", 3, "share"),
            ("lasts: 1d\nnodes: [a, b]\nlink: {speed: 1}", 3, "speed"),
            ("lasts: 1d\nnodes: [a, b]\nlinks:\n  - {loss: 1%}", 4, "between"),
            ("lasts: 1d\nlasts: 2d\nnodes: [a]", 1, "twice"),
            ("lasts: [1d\nnodes: x", 2, "YAML"),
            ("- 1", 1, "no scenario"),
            ("", 1, "no scenario"),
        ])
    func `Every mistake is told with its line`(text: String, line: Int, words: String) {
        do throws(ScenarioError) {
            _ = try ScenarioReader.read(text, name: "test")
            Issue.record("nothing was said of \(text)")
        } catch {
            #expect(error.problems.contains { $0.line == line && $0.message.contains(words) }, "\(error)")
        }
    }

    @Test(
        arguments: [
            ("events:\n  - {at: 1h, recover: b}", "b has all its notes"),
            ("events:\n  - {at: 3h, recover: b}\n  - {at: 1h, empty: b}\n  - {at: 2h, recover: b}", "b has all its notes"),
            ("events:\n  - {at: '-', cut: a}", "is not a time"),
            ("events:\n  - {at: 1h, write: {on: a, note: x, add: y, delete: no}}", "yes, or is left out"),
            ("events:\n  - {at: 1h, write: {on: a, note: x, add: y, color: puce}}", "none, yellow, green, blue, red"),
            ("events:\n  - {at: 1h, write: {on: a, note: x, add: y, tag: 'a b'}}", "one word"),
            ("events:\n  - {at: 1h, write: {on: a, note: x, add: y, tag: '#a'}}", "one word"),
            ("events:\n  - {at: 1h, write: {on: a, note: x, add: ''}}", "one line"),
            ("events:\n  - {at: 1h, write: {on: a, note: x, add: \"y\\nz\"}}", "one line"),
            ("events:\n  - {at: 1h, write: {on: a, note: x, add: y, title: \(String(repeating: "x", count: 1_001))}}", "1000 bytes"),
            ("writes:\n  - {every: 1h, by: []}", "at least one"),
            ("writes:\n  - {every: 1h, change: []}", "at least one"),
            ("writes:\n  - {every: 1h, from: 2h, until: 2h}", "after \u{201C}from\u{201D}"),
            ("writes:\n  - {every: 0.5ms}", "at least 1 ms"),
        ])
    func `What cannot run or does nothing is refused`(text: String, words: String) {
        let error = #expect(throws: ScenarioError.self) {
            try ScenarioReader.read("lasts: 1d\nnodes: [a, b]\n\(text)", name: "test")
        }
        #expect(error?.problems.map(\.line) == [4])
        #expect(error?.problems.first?.message.contains(words) == true, "\(String(describing: error))")
    }

    @Test(
        arguments: [
            ("[all, a]", "all of them"), ("{a: {disk: \(Scenario.diskBytesMin - 1)B}}", "A disk has at least"),
        ])
    func `A node that could not be named or started is refused`(nodes: String, words: String) {
        let error = #expect(throws: ScenarioError.self) { try ScenarioReader.read("lasts: 1d\nnodes: \(nodes)", name: "test") }
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }

    @Test func `if events alone are too many, nothing is said of random writes`() {
        let events = String(repeating: "  - {at: 0, cut: a}\n", count: Scenario.stepsMax + 1)
        let error = #expect(throws: ScenarioError.self) {
            try ScenarioReader.read("lasts: 1d\nnodes: [a]\nevents:\n\(events)", name: "test")
        }
        #expect(error?.description.contains("Leave out some events.") == true)
    }

    @Test func `what is at its limit is allowed`() throws {
        let text = """
            lasts: 1d
            nodes: {a: {disk: \(Scenario.diskBytesMin)B}}
            writes:
              - {every: 1ms, from: 2h, until: 7200001ms}
            events:
              - at: 1h
                write: {on: a, note: x, add: \(String(repeating: "x", count: 1_000)), color: red, tag: -t, delete: true}
            """
        #expect(Plan(try ScenarioReader.read(text, name: "test")).steps.count == 5)
    }

    @Test func `households and moves are read`() throws {
        let text = "lasts: 1d\nnodes: [a, b]\ntrust: household\nevents:\n  - {at: 1h, move: [a, b]}"
        let scenario = try ScenarioReader.read(text, name: "test")
        #expect(scenario.trust == .household)
        #expect(scenario.events.map(\.action) == [.move(0), .move(1)])
        #expect(try ScenarioReader.read("lasts: 1d\nnodes: [a]", name: "test").trust == .devices)
    }

    @Test func `attachments and losses are read`() throws {
        let text = """
            lasts: 1d
            nodes: [a, b]
            events:
              - {at: 0, write: {on: a, note: x, add: X, attach: 64MB}}
              - {at: 1h, empty: a, remove: b}
              - {at: 2h, recover: all}
            """
        let scenario = try ScenarioReader.read(text, name: "test")
        #expect(
            scenario.events.map(\.action) == [
                .write(node: 0, note: "x", .add(title: "X")), .write(node: 0, note: "x", .attach(bytes: Scenario.attachmentBytesMax)),
                .lose(0, .emptied), .lose(1, .missing), .recover(0), .recover(1),
            ])
    }

    @Test func `all mistakes of a file are told at once`() throws {
        let error = #expect(throws: ScenarioError.self) {
            try ScenarioReader.read(
                "lasts: 1d\nnodes: [a, b]\nevents:\n  - {at: 1h, cut: c}\n  - {at: x, cut: a}\ncolour: red", name: "test")
        }
        #expect(error?.problems.map(\.line) == [4, 5, 6])
    }

    @Test func `a note is written to once it is added wherever that stands`() throws {
        let text = """
            lasts: 1d
            nodes: [a, b]
            writes:
              - {every: 1h}
            events:
              - {at: 2h, write: {on: [a, b], note: x, title: later}}
              - {at: 1h, write: {on: a, note: x, line: at once, add: X}}
              - {at: 1h, write: {on: b, note: x, delete: yes}}
              - {at: 3h, write: {on: b, note: note1, tag: drawn}}
            """
        #expect(try ScenarioReader.read(text, name: "test").events.count == 6)
    }

    @Test func `the most nodes are allowed`() throws {
        #expect(
            try ScenarioReader.read("lasts: 1d\nnodes: [a, b, c, d, e, f, g, h, i, j, k, l]", name: "test").nodes.count == Scenario.nodesMax
        )
    }

    @Test func `the scenarios that ship are these`() throws {
        let names = [
            "week", "month", "offline", "wifi", "slow", "kill", "disk", "clocks", "cables", "attachments", "refill", "star", "chain",
            "mesh",
            "versions",
        ]
        #expect(ShippedScenario.all.map(\.name) == names)
        let sources = URL(filePath: #filePath).appending(path: "../../../Sources/KithLab/Resources").standardized
        let files = try FileManager.default.contentsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".yaml") }
        #expect(files.sorted() == names.map { "\($0).yaml" }.sorted(), "a file that nobody can name")
    }

    @Test func `versions says that it tried none if none was given`() throws {
        var scenario = try ScenarioReader.read(#require(ShippedScenario.named("versions")).text, name: "versions")
        let remarks = scenario.notTried
        #expect(remarks.count == 1)
        #expect(remarks.first?.hasPrefix("Not tried: another version of kith on older, oldest.") == true)
        #expect(remarks.first?.contains("--binary old=PATH") == true)
        scenario.binaries["old"] = "/bin/kith"
        #expect(scenario.notTried == [])
    }

    @Test(arguments: ShippedScenario.all.map(\.name)) func `Every scenario that ships can be run`(name: String) throws {
        let scenario = try ScenarioReader.read(#require(ShippedScenario.named(name)).text, name: name)
        #expect(!scenario.about.isEmpty)
        #expect(scenario.takesMilliseconds <= 150_000)
        #expect(!Plan(scenario).steps.isEmpty)
    }

    @Test(
        arguments: [
            ("1d 2h", 93_600_000.0), ("90s", 90_000), ("-3m", -180_000), ("1.5s", 1_500), ("0", 0), ("250ms", 250),
        ])
    func `Quantities have units`(text: String, milliseconds: Double) {
        #expect(Quantity.milliseconds(text) == milliseconds)
    }

    @Test(arguments: ["", "5", "d", "1y", "--1s", "1s2", "99999999d", "\u{0661}s", "1e9s", "-", " "])
    func `What is no quantity is refused`(text: String) {
        #expect(Quantity.milliseconds(text) == nil)
    }
}
