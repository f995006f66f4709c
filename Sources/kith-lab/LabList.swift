import ArgumentParser
import KithLab
import KithProgram

struct LabList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the scenarios that come with kith.",
        discussion: """
            EXAMPLES
              kith lab list
              kith lab list --show week > my-scenario.yaml
            """)

    @Option(help: ArgumentHelp("Print the file of a scenario, to begin one's own.", valueName: "name"))
    var show: String?

    @Flag(help: "Print JSON instead of text for people.")
    var json = false

    func run() throws {
        if let show {
            guard let shipped = ShippedScenario.named(show) else {
                throw CommandFailure(.noInput, "There is no scenario \(show). See `kith lab list`.")
            }
            return try Console.output.write(shipped.text)
        }
        let scenarios = try ShippedScenario.all.map { shipped in
            let scenario = try ScenarioReader.read(shipped.text, name: shipped.name)
            return ["name": shipped.name, "title": scenario.name, "about": scenario.about]
        }
        if json { return try Console.output.write(json: scenarios) }
        var table = TextTable(header: ["NAME", "WHAT HAPPENS"], flexibleColumns: 1)
        table.rows = scenarios.map { [.init($0["name"] ?? "", .bold), .init($0["about"] ?? "")] }
        try table.write(to: .output)
    }
}
