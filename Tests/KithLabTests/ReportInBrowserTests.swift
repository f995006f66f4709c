#if os(Linux)
import Foundation
import Testing

@testable import KithLab

@Suite(
    "A report that is sound as text is broken in a browser", .serialized,
    .enabled(if: Browser.path != nil, "no browser on this machine; it needs Chromium"))
struct ReportInBrowserTests {
    /// A run of four machines in a row that was recorded with `kith lab run --json`.
    private func recorded() throws -> LabRecord {
        let url = try #require(Bundle.module.url(forResource: "run", withExtension: "json", subdirectory: "Fixtures"))
        return try JSONDecoder().decode(LabRecord.self, from: Data(contentsOf: url))
    }

    /// A telephone and a desk; and both sides of the width at which the page changes.
    private static let widths = [390, 720, 721, 1_280]

    @Test func `a report fits a phone and a desk and its script runs`() throws {
        var broken = try recorded()
        let way = (0..<3).map { Finding.Station(atMilliseconds: 1_000 * $0, node: Int($0), text: String(repeating: "long ", count: 60)) }
        broken.findings = [Finding(rule: .writeLost, sentence: String(repeating: "w", count: 400), path: way)]
        broken.checks[1] = .init(sentence: broken.checks[1].sentence, outcome: .notChecked, why: "there was a reason")
        for record in [try recorded(), broken] {
            try LabProgram.withFolder { folder in
                let looks = try Browser.looks(at: HTMLReport(record).text, widths: Self.widths, in: folder)
                #expect(looks.map(\.width) == Self.widths)
                for look in looks {
                    #expect(look.contentWidth <= look.width, "sideways at \(look.width)")
                    #expect(look.errors == [])
                    let author = try #require(record.commits.first?.node)
                    #expect(look.picked.hasPrefix("\(record.nodes[author].name), "), "at \(look.width): \(look.picked)")
                    #expect(look.picked.contains("It reached "))
                    #expect(look.unpicked.hasPrefix("Point at a dot"))
                }
            }
        }
    }

    /// Compared with the same page without its content, which is as large and as plain as a blank one.
    @Test(arguments: [390, 1_280]) func `a report is not blank`(width: Int) throws {
        let page = HTMLReport(try recorded()).text
        let blank = page.replacingOccurrences(of: "</head>", with: "<style>main { display: none }</style></head>")
        try LabProgram.withFolder { folder in
            let pictures = try [page, blank].map { try Browser.picture(of: $0, width: width, height: 800, in: folder) }
            #expect(pictures.map(\.width) == [width, width])
            #expect(pictures.map(\.height) == [800, 800])
            #expect(pictures[0].bytes > 5 * pictures[1].bytes, "\(pictures)")
        }
    }

    @Test func `a page that is too wide or fails is seen`() throws {
        let page =
            "<!doctype html><html><head></head><body><p style=\"width:900px\">wide</p><script>throw Error(\"planted\")</script></body></html>"
        try LabProgram.withFolder { folder in
            let looks = try Browser.looks(at: page, widths: [390, 1_280], in: folder)
            #expect(looks.map { $0.contentWidth > $0.width } == [true, false])
            #expect(looks.allSatisfy { $0.errors.count == 1 && $0.errors[0].contains("planted") })
        }
    }
}
#endif
