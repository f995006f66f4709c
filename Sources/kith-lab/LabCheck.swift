import ArgumentParser
import KithLab
import KithProgram

struct LabCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say what is wrong with a scenario file.",
        discussion: """
            EXAMPLES
              kith lab check my-scenario.yaml
            """)

    @Argument(help: "A scenario that `kith lab list` names, or a file.", completion: .file(extensions: ["yaml", "yml"]))
    var scenario: String

    func run() throws {
        let scenario = try ScenarioFile.read(scenario)
        let steps = Plan(scenario).steps.count
        try Console.output.writeLine(
            "\(PlainText.line(scenario.name)): \(scenario.nodes.count) nodes, \(steps) steps. Nothing is wrong with it.")
    }
}
