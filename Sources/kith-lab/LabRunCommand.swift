import ArgumentParser
import Foundation
import KithLab
import KithProgram

struct LabRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a scenario on real nodes, and check what they hold in the end.",
        discussion: """
            Exits with 1 if a promise was broken, and says which value was lost and which way it went.

            EXAMPLES
              sudo kith lab run week --report week.html
              sudo kith lab run versions --binary old=/opt/kith-0.1/bin/kith
              sudo kith lab run my-scenario.yaml --json --keep
            """)

    @Argument(help: "A scenario that `kith lab list` names, or a file.")
    var scenario: String

    @Option(help: "Write a page about the run.", completion: .file(extensions: ["html"]))
    var report: String?

    @Flag(help: "Print what happened as JSON; what is going on is told on standard error.")
    var json = false

    @Flag(help: "Keep the stores and the logs of all nodes.")
    var keep = false

    @Option(help: ArgumentHelp("Another program for the nodes of a scenario that name it.", valueName: "name=path"), completion: .file())
    var binary: [String] = []

    @Option(help: "Another seed for the writes that are drawn.")
    var seed: UInt64?

    func run() throws {
        var lab = Lab(try ScenarioFile.read(scenario))
        for entry in binary {
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, lab.scenario.binaries[parts[0]] != nil else {
                let names = lab.scenario.binaries.keys.sorted().joined(separator: ", ")
                throw CommandFailure(.usage, "--binary \(entry): write NAME=PATH; the scenario names \(names.isEmpty ? "none" : names).")
            }
            lab.scenario.binaries[parts[0]] = parts[1]
        }
        // Nodes are what people run: this program has faults to inject.
        guard let kith = Companion.path(of: "kith") else {
            throw CommandFailure(
                .unavailable, "The program kith, which the nodes run, is neither beside kith-lab nor on the PATH. Install it.")
        }
        lab.kith = kith
        lab.command = ["sudo", "kith", "lab", "run", self.scenario] + binary.flatMap { ["--binary", $0] }
        if let seed { lab.scenario.seed = seed }
        lab.reportPath = report
        lab.printsJSON = json
        lab.keepsFolder = keep
        let console = json ? Console.error : Console.output
        let status = try lab.run { try? console.writeLine(PlainText.line($0)) }
        if status != 0 { throw ExitCode(status) }
    }
}
