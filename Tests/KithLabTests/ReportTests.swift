import Foundation
import Testing

@testable import KithLab

@Suite("The report shows the whole run, and nothing of it does harm")
struct ReportTests {
    static let record = LabRecord(
        name: "A <test> & more", about: "About it.", seed: 7, started: "2026-01-01T00:00:00Z", lastsMilliseconds: 604_800_000,
        takesMilliseconds: 60_000,
        settledFromMilliseconds: 60_500, convergedMilliseconds: 61_000, endedMilliseconds: 61_000,
        nodes: ["desk", "laptop", "phone"].map { .init(name: $0, address: "10.77.0.1", version: "0.1.0") },
        marks: [
            .init(atMilliseconds: 0, kind: .start, node: 0, text: "desk: started"),
            .init(atMilliseconds: 0, kind: .start, node: 1, text: "laptop: started"),
            .init(atMilliseconds: 20_000, kind: .cut, node: 1, text: "laptop: cable pulled"),
            .init(atMilliseconds: 30_000, kind: .kill, node: 0, text: "desk: kill -9"),
            .init(atMilliseconds: 40_000, kind: .heal, node: 1, text: "laptop: cable plugged in"),
            .init(atMilliseconds: 45_000, kind: .part, node: 0, other: 2, text: "desk and phone: path broken"),
        ],
        commits: [
            .init(
                atMilliseconds: 1_000, node: 0, sequence: 1, write: 0,
                arrivals: [.init(atMilliseconds: 1_200, node: 1, isMerge: false), .init(atMilliseconds: 41_000, node: 2, isMerge: true)]),
            .init(atMilliseconds: 2_000, node: 1, sequence: 1, write: nil, arrivals: []),
        ],
        writes: [
            .init(
                index: 0, atMilliseconds: 900, endedMilliseconds: 1_000, node: 0, note: "n", kind: "add",
                value: "</script><script>alert(1)</script>\"'", outcome: "acknowledged")
        ],
        connections: [.init(first: 0, second: 1, fromMilliseconds: 500, untilMilliseconds: 20_000)],
        traffic: [
            .init(from: 0, to: 1, bytes: 1_000, frames: 10, droppedFrames: 1),
            .init(from: 1, to: 0, bytes: 500, frames: 5, droppedFrames: 0),
        ],
        checks: [.init(sentence: "All know the same", outcome: .passed)], findings: [], remarks: ["a remark"])

    @Test func `every node has its lane and every commit its dot`() {
        let text = HTMLReport(Self.record).text
        for name in ["desk", "laptop", "phone"] {
            #expect(text.components(separatedBy: "data-lane=\"\(name)\"").count == 3, "once for each width")
        }
        #expect(text.components(separatedBy: "class=\"dot\"").count == 2 * Self.record.commits.count + 1)
        #expect(text.components(separatedBy: "class=\"msg\"").count == 2 * 2 + 1)
        #expect(text.contains("Nothing was lost"))
        #expect(text.contains("1.5 kB"))
        for mark in Self.record.marks where mark.kind == .kill || mark.kind == .part {
            #expect(text.contains("<title>\(mark.text)</title>"))
        }
    }

    @Test func `what was written is text and nothing is loaded from elsewhere`() {
        let text = HTMLReport(Self.record).text
        #expect(!text.contains("<script>alert"))
        #expect(text.contains("&lt;/script&gt;"))
        #expect(text.components(separatedBy: "<script>").count == 2)
        for word in ["http://", "https://", "src=", "@import", "<link"] { #expect(!text.contains(word), "\(word)") }
    }

    @Test func `tags are closed`() {
        let text = HTMLReport(Self.record).text
        for tag in ["svg", "figure", "section", "div", "ul", "ol", "table", "g", "p", "main", "body"] {
            let opened = text.components(separatedBy: "<\(tag)").dropFirst().filter {
                $0.first.map { " >".contains($0) } ?? false && !($0.prefix { $0 != ">" }.hasSuffix("/"))
            }
            #expect(opened.count == text.components(separatedBy: "</\(tag)>").count - 1, "\(tag)")
        }
    }

    @Test func `a broken promise is told with its path`() {
        var record = Self.record
        record.findings = [
            Finding(
                rule: .writeLost, sentence: "The title is gone.", path: [.init(atMilliseconds: 1_000, node: 0, text: "wrote it")], write: 0)
        ]
        let text = HTMLReport(record).text
        #expect(text.contains("A promise was broken"))
        #expect(text.contains("The title is gone."))
        #expect(text.contains("wrote it"))
        #expect(record.summary.contains { $0.contains("writeLost") })
    }

    @Test func `what was not checked is not ticked`() {
        var record = Self.record
        record.checks = [
            .init(sentence: "A is kept", outcome: .passed), .init(sentence: "B is kept", outcome: .broken),
            .init(sentence: "C is kept", outcome: .notChecked, why: "the <nodes> differ"),
        ]
        #expect(record.summary.contains("ok           A is kept"))
        #expect(record.summary.contains("BROKEN       B is kept"))
        #expect(record.summary.contains("not checked  C is kept (the <nodes> differ)"))
        let page = HTMLReport(record).text
        #expect(page.contains("<li>\(Markup.tick)<span>A is kept"))
        #expect(page.contains("<li class=\"bad\">\(Markup.cross)<span>Broken: B is kept"))
        #expect(page.contains("<li class=\"soft\">\(Markup.dash)<span>Not checked: C is kept (the &lt;nodes&gt; differ)"))
    }

    @Test func `an empty run has a report`() {
        var record = Self.record
        (record.commits, record.writes, record.traffic, record.marks, record.convergedMilliseconds) = ([], [], [], [], nil)
        #expect(HTMLReport(record).text.contains("</html>"))
    }

    @Test func `what nodes lack grows and shrinks`() {
        let steps = ConvergenceChart(Self.record, isVertical: false).steps
        #expect(steps.map(\.missing) == [[0, 0, 0], [0, 1, 1], [0, 0, 1], [1, 0, 2], [1, 0, 1], [1, 0, 1]])
    }

    @Test func `every latency is in one bar`() {
        let chart = LatencyChart(latencies: [0, 50, 51, 100, 5_000])
        #expect(chart.bars.map(\.count) == [2, 2, 0, 0, 0, 0, 0, 1])
        #expect(chart.bars.last?.untilMilliseconds == 6_400)
        #expect(chart.share(50) == 51)
        #expect(chart.share(100) == 5_000)
    }

    @Test func `connections are read from what nodes say`() {
        func line(_ peers: String...) -> String {
            "{\"peers\":[\(peers.map { "{\"name\":\"\($0)\",\"state\":\"connected\"}" }.joined(separator: ","))]}"
        }
        let read = ConnectionReader(names: ["a", "b"]).connections(
            [(0, 10, line("b")), (1, 12, line("a")), (0, 20, "no json"), (1, 30, line()), (0, 31, line()), (0, 40, line("b"))], until: 50)
        #expect(
            read == [
                .init(first: 0, second: 1, fromMilliseconds: 10, untilMilliseconds: 30),
                .init(first: 0, second: 1, fromMilliseconds: 40, untilMilliseconds: 50),
            ])
    }
}
