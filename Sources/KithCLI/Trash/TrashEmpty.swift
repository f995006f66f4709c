import ArgumentParser
import KithNotes

struct TrashEmpty: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "empty",
        abstract: "Give up the notes in the trash of this machine.",
        discussion: """
            They are not in the trash here any more; other machines keep them in theirs until it is emptied there or 30 days are \
            over. `kith history` keeps what was in them for 30 days, and `kith note undo` and `kith revert` can bring that back. \
            Asks first, unless --yes is given.

            EXAMPLES
              kith trash empty
              kith trash empty --yes
            """)

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var options: StoreOptions

    func run() throws {
        let count = try options.withNotes { notes in
            let count = try notes.trash().count
            if count > 0, try !isMeant(count) { throw CommandFailure(.usage, "The trash was left as it is.") }
            return try notes.emptyTrash()
        }
        if options.json { return try Console.output.write(json: ["notes": count]) }
        try Console.output.writeLine(count == 0 ? "The trash is empty." : "Gave up \(Self.notes(count)).")
    }

    /// Asks on a terminal; elsewhere nobody can answer.
    private func isMeant(_ count: Int) throws -> Bool {
        if yes { return true }
        guard StandardStreams.isInputTerminal else {
            throw CommandFailure(.usage, "Emptying the trash gives up \(Self.notes(count)). Pass --yes if that is meant.")
        }
        try Console.error.write("This gives up \(Self.notes(count)). Type yes to go on: ")
        return readLine()?.filter { !$0.isWhitespace }.lowercased() == "yes"
    }

    private static func notes(_ count: Int) -> String { count == 1 ? "1 note" : "\(count) notes" }
}
