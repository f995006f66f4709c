import Foundation

/// Runs scenarios on real nodes, each in a machine of its own, and says what became of every write.
package struct Lab {
    package var scenario: Scenario
    /// The program that nodes run; `nil` for this one.
    package var kith: String?
    /// The command that runs the scenario again, but for its seed.
    package var command: [String] = []
    /// Where the report goes.
    package var reportPath: String?
    package var printsJSON = false
    /// Keeps the stores and logs.
    package var keepsFolder = false

    package init(_ scenario: Scenario) {
        self.scenario = scenario
    }

    /// Runs the scenario.
    ///
    /// - Parameter say: is told what happens, a line at a time.
    /// - Returns: the exit status: 0, or 1 if a promise was broken.
    /// - Throws: ``LabError`` if this machine cannot run it, the run was stopped, or the report cannot be written.
    package func run(say: (String) -> Void) throws -> Int32 {
        #if os(Linux)
        guard let folder = PrivateWorld.folder else {
            if !scenario.binaries.values.allSatisfy({ $0.isEmpty || FileManager.default.isExecutableFile(atPath: $0) }) {
                let missing = scenario.binaries.filter { !$0.value.isEmpty && !FileManager.default.isExecutableFile(atPath: $0.value) }
                throw LabError(.noInput, "These programs cannot be run: \(missing.values.sorted().joined(separator: ", ")).")
            }
            try reportPath.map(ReportFile.init)?.check()
            return try PrivateWorld.run(keepsFolder: keepsFolder)
        }
        return try withoutActuallyEscaping(say) { say in try runInside(folder, say) }
        #else
        throw LabError(.unavailable, "The lab needs the namespaces of Linux. `kith lab sim` works everywhere.")
        #endif
    }

    #if os(Linux)
    private func runInside(_ folder: URL, _ say: @escaping (String) -> Void) throws -> Int32 {
        say(
            "\(scenario.name): \(scenario.nodes.count) machines, \(Quantity.span(Double(scenario.lastsMilliseconds))) in \(Quantity.span(Double(scenario.takesMilliseconds)))"
        )
        let run = try LabRun(scenario, kith: kith ?? PrivateWorld.executable, folder: folder, say: say)
        let record = try run.run()
        if keepsFolder { run.keepDisks() }
        return try tell(record, say)
    }

    /// The outcome first, then the report, which a full disk may prevent. A broken promise says more than a missing report.
    func tell(_ record: LabRecord, _ say: (String) -> Void) throws -> Int32 {
        if printsJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(record), as: UTF8.self))
        }
        for line in record.summary { say(line) }
        if !record.isPassed, !command.isEmpty {
            say("")
            say("Run it again, with the same writes at the same times, with: \(ShellLine.of(command + ["--seed", String(record.seed)]))")
        }
        if let reportPath {
            do {
                try ReportFile(path: reportPath).write(HTMLReport(record))
                say("The report is in \(reportPath).")
            } catch {
                guard !record.isPassed else { throw error }
                say(error.message)
            }
        }
        return record.isPassed ? 0 : 1
    }
    #endif
}

extension LabRecord {
    /// The outcome, for a terminal.
    var summary: [String] {
        let done = writes.filter { $0.outcome == "acknowledged" }.count
        var lines = ["", "\(writes.count) writes, \(done) of them acknowledged; \(commits.count) commits."]
        let latencies = latencies
        if !latencies.isEmpty {
            lines.append(
                "Half of them arrived within \(LabRecord.latency(latencies[latencies.count / 2])), the last one after \(LabRecord.latency(latencies[latencies.count - 1]))."
            )
        }
        lines += checks.map { check in
            switch check.outcome {
            case .passed: "ok           \(check.sentence)"
            case .broken: "BROKEN       \(check.sentence)"
            case .notChecked: "not checked  \(check.sentence) (\(check.why ?? "for a reason that is not known"))"
            }
        }
        for finding in findings {
            lines += ["", "\(finding.rule.rawValue): \(finding.sentence)"]
            lines += finding.path.map { "    \(Quantity.span(Double($0.atMilliseconds)))  \(nodes[$0.node].name) \($0.text)" }
        }
        return remarks.isEmpty ? lines : lines + [""] + remarks
    }
}
