import Foundation
import Testing

@testable import KithLab

@Suite("The report hides who was connected")
struct ConnectionChartTests {
    @Test func `every pair has a row and every connection a bar`() {
        var record = ReportTests.record
        record.connections = [
            .init(first: 0, second: 1, fromMilliseconds: 500, untilMilliseconds: 20_000),
            .init(first: 0, second: 1, fromMilliseconds: 40_000, untilMilliseconds: 61_000),
            .init(first: 1, second: 2, fromMilliseconds: 600, untilMilliseconds: 20_000),
        ]
        for isVertical in [false, true] {
            let svg = ConnectionChart(record, isVertical: isVertical).svg
            #expect(svg.components(separatedBy: "<g class=\"link\">").count == 4)
            for pair in ["desk \u{2013} laptop", "laptop \u{2013} phone"] { #expect(svg.contains(">\(pair)</text>")) }
            #expect(!svg.contains(">desk \u{2013} phone</text>"))
        }
        #expect(HTMLReport(record).text.contains("Who was connected"))
        record.connections = []
        #expect(!HTMLReport(record).text.contains("Who was connected"))
    }

    @Test func `a path is broken while any part of it is`() {
        var record = ReportTests.record
        record.marks = [
            .init(atMilliseconds: 1_000, kind: .cut, node: 0, text: ""),
            .init(atMilliseconds: 2_000, kind: .part, node: 0, other: 1, text: ""),
            .init(atMilliseconds: 3_000, kind: .heal, node: 0, text: ""),
            .init(atMilliseconds: 4_000, kind: .join, node: 0, other: 1, text: ""),
            .init(atMilliseconds: 5_000, kind: .kill, node: 0, text: ""),
            .init(atMilliseconds: 6_000, kind: .cut, node: 2, text: ""),
        ]
        let chart = ConnectionChart(record, isVertical: false)
        func breaks(_ a: Int, _ b: Int) -> [[Int64]] { chart.breaks(.init(a, b)).map { [$0.from, $0.until] } }
        #expect(breaks(0, 1) == [[1_000, 4_000]])
        #expect(breaks(0, 2) == [[1_000, 3_000], [6_000, 61_000]])
        #expect(breaks(1, 2) == [[6_000, 61_000]])
    }
}
