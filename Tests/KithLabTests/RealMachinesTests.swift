#if os(Linux)
import Foundation
import Testing

@testable import KithLab

/// The real binary on several hosts of a lab, as a person runs it.
@Suite(.serialized, .enabled(if: PrivateWorld.obstacle() == nil, "no lab on this machine; it needs root and namespaces"))
struct RealMachinesTests {
    @Test func `three machines lose nothing through a cut a kill and a wrong clock`() throws {
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

    @Test func `machines that never meet are not called faithful`() throws {
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

    /// The lab runs what a person has, so it is lied to by a program: one that says a title is written and does not write it, and
    /// that wipes the text of a note when it colors it.
    @Test func `a machine that loses what it acknowledged is found out`() throws {
        try LabProgram.withFolder { folder in
            let careless = folder.appending(path: "careless")
            try """
            #!/bin/sh
            case " $* " in
                *" --title "*) echo "Changed title of List." ;;
                *" --color "*) exec '\(LabProgram.path)' "$@" --body '' ;;
                *) exec '\(LabProgram.path)' "$@" ;;
            esac
            """.write(to: careless, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: careless.path)
            let file = folder.appending(path: "careless.yaml")
            try """
            lasts: 3s
            binaries: {careless: }
            nodes:
              a:
              b: {binary: careless}
            events:
              - {at: 1s, write: {on: b, note: list, add: List, line: bread, tag: home}}
              - {at: 2s, write: {on: b, note: list, title: Groceries, color: green}}
            """.write(to: file, atomically: true, encoding: .utf8)
            let page = folder.appending(path: "report.html")
            let result = try LabProgram.run(
                ["lab", "run", file.path, "--json", "--report", page.path, "--binary", "careless=\(careless.path)"], in: folder)
            #expect(result.status == 1, "\(result.errors)")
            let record = try JSONDecoder().decode(LabRecord.self, from: Data(result.output.utf8))
            #expect(record.writes.map(\.outcome) == .init(repeating: "acknowledged", count: 5))
            #expect(record.findings.map(\.rule) == [.writeLost, .writeLost])
            let again = "sudo kith lab run \(file.path) --binary careless=\(careless.path) --seed \(record.seed)"
            #expect(record.seed == 1 && result.errors.contains(again), "\(result.errors)")
            #expect(record.checks.map(\.outcome) == [.passed, .passed, .broken, .passed, .passed, .passed])
            // The title never left its author; the line reached the other machine before it was lost, or on its way.
            #expect(record.findings.map { finding in record.writes.first { $0.index == finding.write }?.value } == ["Groceries", "bread"])
            #expect(record.findings.map { Set($0.path.map(\.node)) } == [[1], [0, 1]])
            let text = try String(contentsOf: page, encoding: .utf8)
            #expect(text.contains("2 promises were broken"))
            for finding in record.findings {
                #expect(result.errors.contains("writeLost: \(finding.sentence)"))
                #expect(text.contains(finding.sentence))
                for station in finding.path { #expect(text.contains(station.text)) }
            }
        }
    }

    /// The program of one machine counts a device as safe as soon as that has the rows, whether or not it has the bytes.
    @Test func `a machine that calls safe what is still on its way is found out`() throws {
        try LabProgram.withFolder { folder in
            let boastful = try program(
                "boastful",
                """
                case "$1" in
                    status) '\(LabProgram.path)' "$@" | sed -e 's/"holders"/"true"/' -e 's/"rowHolders"/"holders"/' ;;
                    *) exec '\(LabProgram.path)' "$@" ;;
                esac
                """, in: folder)
            let file = folder.appending(path: "boastful.yaml")
            try """
            lasts: 8s
            binaries: {boastful: }
            nodes:
              a: {binary: boastful}
              b:
            link: {rate: 500kbit}
            events:
              - {at: 2s, write: {on: a, note: list, add: List, attach: 600KB}}
            """.write(to: file, atomically: true, encoding: .utf8)
            let result = try LabProgram.run(["lab", "run", file.path, "--json", "--binary", "boastful=\(boastful)"], in: folder)
            #expect(result.status == 1, "\(result.errors)")
            let record = try JSONDecoder().decode(LabRecord.self, from: Data(result.output.utf8))
            #expect(record.checks.map(\.outcome) == [.passed, .passed, .passed, .passed, .passed, .passed, .broken], "\(result.errors)")
            #expect(record.findings.map(\.rule) == [.falselySafe])
            let sentence = record.findings.first?.sentence ?? ""
            #expect(sentence.hasSuffix("everything is safe on b, which lacked the bytes of file-1 (600.0 kB)."), "\(sentence)")
            #expect(record.findings.first?.path.first?.text.contains("file-1") == true)
        }
    }

    /// The program of one machine makes new notes where they were taken away, and says nothing.
    @Test func `a machine that takes a lost store for a new one is found out`() throws {
        try LabProgram.withFolder { folder in
            let forgetful = try program(
                "forgetful",
                """
                store="$KITH_HOME/store/notes.sqlite"
                if [ -e "$store-kith" ] && [ ! -s "$store" ]; then '\(LabProgram.path)' recover --refill; fi >/dev/null
                exec '\(LabProgram.path)' "$@"
                """, in: folder)
            // What b wrote first has come to a by the time it is lost, also on a busy machine.
            let text = """
                lasts: 16s
                binaries: {forgetful: }
                nodes:
                  a:
                  b: {binary: forgetful}
                events:
                  - {at: 1s, write: {on: b, note: list, add: List, line: bread}}
                  - {at: 12s, empty: b}
                  - {at: 14s, recover: b}
                  - {at: 15s, write: {on: b, note: list, title: Groceries}}
                """
            let file = folder.appending(path: "forgetful.yaml")
            try text.write(to: file, atomically: true, encoding: .utf8)
            // Without the option both run the kith that is tested, and all is well.
            let honest = try LabProgram.run(["lab", "run", file.path, "--json"], in: folder)
            #expect(honest.status == 0, "\(honest.errors)")
            let kept = try JSONDecoder().decode(LabRecord.self, from: Data(honest.output.utf8))
            #expect(kept.checks.map(\.outcome) == .init(repeating: .passed, count: 7))
            let result = try LabProgram.run(["lab", "run", file.path, "--json", "--binary", "forgetful=\(forgetful)"], in: folder)
            #expect(result.status == 1, "\(result.errors)")
            let record = try JSONDecoder().decode(LabRecord.self, from: Data(result.output.utf8))
            #expect(record.checks.last?.outcome == .broken)
            let words = record.findings.filter { $0.rule == .lossUnnoticed }.map(\.sentence)
            #expect(words.contains { $0.contains("just emptied, and `kith status --json` ended with status 0") }, "\(words)")
        }
    }

    @Test func `what begins with a dash is written like anything else`() throws {
        let record = try run(
            """
            lasts: 2s
            nodes: [a, b]
            events:
              - {at: 1s, write: {on: a, note: list, add: '--help', title: '--version', line: '-l', tag: '-t'}}
              - {at: 1500ms, write: {on: a, note: list, untag: '-t'}}
            """)
        #expect(record.writes.map(\.outcome) == .init(repeating: "acknowledged", count: 5))
        #expect(record.findings == [])
    }

    @Test func `if every machine loses its notes, they are lost, and all else is judged`() throws {
        let record = try run(
            """
            lasts: 5s
            settle: 20s
            nodes: [a, b]
            events:
              - {at: 1s, write: {on: a, note: list, add: List}}
              - {at: 4s, remove: [a, b]}
            """)
        #expect(record.findings.map(\.rule) == [.writeLost])
        #expect(record.checks.map(\.outcome) == [.passed, .passed, .broken, .passed, .passed, .passed, .passed])
    }

    private func run(_ scenario: String) throws -> LabRecord {
        var record: LabRecord?
        try LabProgram.withFolder { folder in
            let file = folder.appending(path: "scenario.yaml")
            try scenario.write(to: file, atomically: true, encoding: .utf8)
            let result = try LabProgram.run(["lab", "run", file.path, "--json"], in: folder)
            record = try JSONDecoder().decode(LabRecord.self, from: Data(result.output.utf8))
        }
        return try #require(record)
    }

    private func program(_ name: String, _ lines: String, in folder: URL) throws -> String {
        let file = folder.appending(path: name)
        try "#!/bin/sh\n\(lines)\n".write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        return file.path
    }

    @Test func `a run that is interrupted leaves nothing behind`() throws {
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
