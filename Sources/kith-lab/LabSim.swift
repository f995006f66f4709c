import ArgumentParser
import KithLab

struct LabSim: ParsableCommand {
    private static let name = "kith lab sim"

    static let configuration = CommandConfiguration(
        commandName: "sim",
        abstract: "Simulate many machines and faults with the tables of an app.",
        usage: SimulatorOptions.synopsis(of: name),
        discussion: SimulatorOptions.explanation + """

            EXAMPLES
              kith lab sim --schema app.sql --nodes 5 --seeds 1000
              kith lab sim --first 4711 --trace      that seed again, with all that happened
            """)

    @Argument(parsing: .allUnrecognized)
    var options: [String] = []

    func run() throws {
        let isKept = try SimulatorRun(SimulatorOptions(options, of: Self.name), ownsProcess: true).run()
        if !isKept { throw ExitCode(1) }
    }
}
