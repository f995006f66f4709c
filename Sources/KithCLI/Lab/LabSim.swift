import ArgumentParser
import KithLab

struct LabSim: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sim",
        abstract: "Simulate many machines and faults with the tables of an app.",
        discussion: SimulatorOptions.usage + """
            EXAMPLES
              kith lab sim --schema app.sql --nodes 5 --seeds 1000
              kith lab sim --first 4711 --trace          that seed again, with all that happened
            """)

    @Argument(parsing: .allUnrecognized)
    var options: [String] = []

    func run() throws {
        do {
            let isKept = try SimulatorRun(SimulatorOptions(options)).run()
            if !isKept { throw ExitCode(1) }
        } catch let error as SimulatorOptions.Unusable {
            throw CommandFailure(.usage, error.description)
        }
    }
}
