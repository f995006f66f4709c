import KithTesting

extension SimulatorOptions {
    /// The ways to call `command`, on lines that fit into a terminal.
    package static func synopsis(of command: String) -> String {
        """
        \(command) [--schema FILE [--update FILE]] [--nodes N] [--seeds N]
                     [--first SEED] [--ops N] [--faults A,B=RATE] [--hash] [--stop]
        \(command) [--schema FILE [--update FILE]] --script FILE [--trace]
        \(command) [--schema FILE [--update FILE]] --first SEED --trace
        \(command) --history [--seeds N] [--first SEED] [--faults A,B=RATE]
        \(command) --report
        """
    }

    /// What the options mean.
    package static let explanation = """
        Runs seeded simulations of machines that synchronise the tables of a schema,
        and prints the shortest script it can find for each seed that breaks a
        promise. Exits with 1 if one did.

          --schema FILE           SQL that makes the tables; those with a BLOB key
                                  synchronise (default: a schema of its own)
          --update FILE           SQL that an update of the app runs after that; some
                                  machines begin without it and are updated later
          --history               judge journals, live lists, undo and an order by
                                  hand, on a schema of its own
          --hashes                sessions say what they know as those of stores do
                                  that have met thousands of replicas
          --set TABLE.COLUMN      a column that is a set: a JSON array of texts
          --counter TABLE.COLUMN  a column that is a counter
          --text TABLE.COLUMN     a column that several people edit at once
          --key TABLE.COLUMN      a column that names the row: rows with the same value
                                  are one row (several columns: in their order)
          --delete-wins TABLE     deletions win over edits of the same time
          --filled TABLE=QUERY    a table that triggers fill: its rows are those of the
                                  query, always
                                  (these six may be given several times)
          --nodes N               machines of a run, up to \(Script.nodesMax) (default: 5)
          --seeds N               runs (default: 100)
          --first SEED            the seed of the first run (default: 0)
          --ops N                 users' transactions of a run (default: 200)
          --faults A,B=RATE       what may go wrong, as often as each seed draws; or,
                                  with a rate, in every run before that share of the
                                  transactions: crash=0.1. "none", or of (default: all
                                  but forgery and damage)
        \(faultLines)
          --script FILE           run this script, and no seeds
          --trace                 print what happened in the script or the first seed
          --hash                  print the trace hash of each seed
          --stop                  stop at the first seed that breaks a promise, and do
                                  not shrink it
          --report                print what a commit costs with 3 to 64 nodes

        """

    /// The names of all faults, a few a line.
    private static var faultLines: String {
        let names = Fault.allCases.map(\.rawValue)
        return stride(from: 0, to: names.count, by: 3)
            .map { start in String(repeating: " ", count: 34) + names[start..<min(start + 3, names.count)].joined(separator: ", ") }
            .joined(separator: ",\n")
    }
}
