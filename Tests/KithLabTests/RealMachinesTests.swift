#if os(Linux)
import Foundation
import Testing

@testable import KithLab

/// The real binary on several hosts of a lab, as a person runs it.
@Suite(.serialized, .enabled(if: PrivateWorld.obstacle() == nil, "no lab on this machine; it needs root and namespaces"))
struct RealMachinesTests {
    @Test func threeMachinesLoseNothingThroughACutAKillAndAWrongClock() throws {
        try LabProgram.withFolder { folder in
            let file = folder.appending(path: "short.yaml")
            try """
            name: Short
            lasts: 9s
            nodes:
              a:
              b: {clock: 1d, disk: 8MB}
              c:
            link: {delay: 2ms, loss: 1%}
            events:
              - {at: 1s, write: {on: a, note: list, add: List, line: bread}}
              - {at: 4s, cut: c}
              - {at: 4500ms, write: [{on: a, note: list, title: Groceries}, {on: c, note: other, add: Other}]}
              - {at: 5s, kill: b}
              - {at: 5500ms, write: {on: b, note: third, add: Third, tag: x}}
              - {at: 7s, start: b}
              - {at: 8s, heal: c}
            """.write(to: file, atomically: true, encoding: .utf8)
            let page = folder.appending(path: "report.html")
            let result = try LabProgram.run(["lab", "run", file.path, "--json", "--report", page.path], in: folder)
            #expect(result.status == 0, "\(result.errors)")
            let record = try JSONDecoder().decode(LabRecord.self, from: Data(result.output.utf8))
            #expect(record.findings == [])
            #expect(record.writes.map(\.outcome) == .init(repeating: "acknowledged", count: 6))
            #expect(record.commits.count == 6)
            #expect(record.commits.allSatisfy { Set($0.arrivals.map(\.node)).count == 2 })
            #expect(record.traffic.allSatisfy { $0.bytes > 0 })
            #expect(try String(contentsOf: page, encoding: .utf8).contains("Nothing was lost"))
        }
    }

    @Test func machinesThatNeverMeetAreNotCalledFaithful() throws {
        try LabProgram.withFolder { folder in
            let file = folder.appending(path: "apart.yaml")
            try """
            lasts: 3s
            settle: 1s
            nodes: [a, b]
            link: {loss: 100%}
            writes:
              - {every: 1s}
            """.write(to: file, atomically: true, encoding: .utf8)
            let result = try LabProgram.run(["lab", "run", file.path, "--json"], in: folder)
            #expect(result.status == 1)
            let record = try JSONDecoder().decode(LabRecord.self, from: Data(result.output.utf8))
            #expect(record.findings.map(\.rule) == [.noConvergence])
            #expect(record.checks.map(\.outcome) == [.broken, .notChecked, .notChecked, .notChecked, .passed, .passed])
            #expect(result.errors.components(separatedBy: "not checked  ").count == 4)
        }
    }

    @Test func aRunThatIsInterruptedLeavesNothingBehind() throws {
        try LabProgram.withFolder { folder in
            let process = Process()
            process.executableURL = URL(filePath: LabProgram.path)
            process.arguments = ["lab", "run", "week"]
            process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 }
            let pipe = Pipe()
            process.standardOutput = pipe
            process.standardError = FileHandle.nullDevice
            try process.run()
            // Its machines are there once the first of them is started.
            var text = ""
            while !text.contains("desk: started"), case let data = pipe.fileHandleForReading.availableData, !data.isEmpty {
                text += String(decoding: data, as: UTF8.self)
            }
            process.terminate()
            process.waitUntilExit()
            #expect(process.terminationStatus == 75)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("kith-lab-") } == [])
            let left = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { pid in
                (try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8))?.contains(folder.path) ?? false
            }
            #expect(left == [])
        }
    }
}
#endif
