import Foundation
import Testing

@testable import KithLab

@Suite("A report that cannot be written is told before the run")
struct ReportFileTests {
    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kith-report-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test func `a file that can be written is left as it is until then`() throws {
        try withFolder { folder in
            let old = folder.appending(path: "old.html")
            try "an older report".write(to: old, atomically: true, encoding: .utf8)
            try ReportFile(path: old.path).check()
            try ReportFile(path: folder.appending(path: "new.html").path).check()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["old.html"])
            #expect(try String(contentsOf: old, encoding: .utf8) == "an older report")
            try ReportFile(path: old.path).write(HTMLReport(ReportTests.record))
            #expect(try String(contentsOf: old, encoding: .utf8) == HTMLReport(ReportTests.record).text)
        }
    }

    @Test func `a folder that is not there is named with the reason`() throws {
        try withFolder { folder in
            let file = ReportFile(path: folder.appending(path: "nowhere/report.html").path)
            let early = #expect(throws: LabError.self) { try file.check() }
            #expect(early?.code == .cannotCreate)
            #expect(early?.message.contains("(No such file or directory). Nothing was run;") == true, "\(String(describing: early))")
            let late = #expect(throws: LabError.self) { try file.write(HTMLReport(ReportTests.record)) }
            #expect(late?.code == .cannotCreate)
            #expect(late?.message.contains("(No such file or directory). What was found is told above;") == true)
        }
    }

    @Test func `a folder is no report`() throws {
        try withFolder { folder in
            let error = #expect(throws: LabError.self) { try ReportFile(path: folder.path).check() }
            #expect(error?.message.contains("is a folder") == true)
        }
        #expect(throws: LabError.self) { try ReportFile(path: "").check() }
    }

    #if os(Linux)
    @Test func `the outcome is told though the report cannot be written`() throws {
        try withFolder { folder in
            var lab = Lab(try ScenarioReader.read("lasts: 1s\nnodes: [a]", name: "test"))
            lab.reportPath = folder.appending(path: "nowhere/report.html").path
            var lines: [String] = []
            let error = #expect(throws: LabError.self) { try lab.tell(ReportTests.record) { lines.append($0) } }
            #expect(error?.code == .cannotCreate)
            #expect(lines == ReportTests.record.summary)

            var broken = ReportTests.record
            broken.findings = [Finding(rule: .writeLost, sentence: "The title is gone.")]
            lines = []
            #expect(try lab.tell(broken) { lines.append($0) } == 1, "a broken promise says more than a missing report")
            #expect(lines.dropLast() == broken.summary[...])
            #expect(lines.last?.hasPrefix("The report could not be written") == true)
        }
    }

    @Test func `a run that broke a promise says how to run it again, and JSON names its seed`() throws {
        var lab = Lab(try ScenarioReader.read("lasts: 1s\nnodes: [a]", name: "test"))
        lab.command = ["sudo", "kith", "lab", "run", "my file.yaml"]
        var record = ReportTests.record
        var lines: [String] = []
        #expect(try lab.tell(record) { lines.append($0) } == 0)
        #expect(lines == record.summary, "nothing is to be run again where every promise was kept")
        record.findings = [Finding(rule: .writeLost, sentence: "The title is gone.")]
        #expect(try lab.tell(record) { lines.append($0) } == 1)
        #expect(lines.last?.hasSuffix("with: sudo kith lab run 'my file.yaml' --seed 7") == true, "\(lines)")
        #expect(String(decoding: try JSONEncoder().encode(record), as: UTF8.self).contains(#""seed":7"#))
    }
    #endif
}
