import ArgumentParser
import KithProgram

struct LabCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kith lab",
        abstract: "Try out what happens when networks and machines fail.",
        discussion: """
            Runs real nodes, each on a machine of its own inside this one, with real mDNS, TCP and TLS; pulls cables, kills, \
            slows down, sets clocks wrong; and checks that every write that was acknowledged is still there. Needs Linux and root.

            EXAMPLES
              kith lab list
              sudo kith lab run week --report week.html
              kith lab check my-scenario.yaml
              kith lab sim --schema app.sql --nodes 5 --seeds 1000
            """,
        version: Version.described,
        subcommands: [LabRunCommand.self, LabList.self, LabCheck.self, LabSim.self])
}
