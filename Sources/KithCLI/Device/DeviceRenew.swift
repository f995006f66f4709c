import ArgumentParser
import Kith

struct DeviceRenew: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Give this machine a new key, and with it a new id.",
        discussion: """
            For a key that somebody else may have seen, for instance in a backup. The other machines of the household follow by \
            themselves as they meet this one, however long that takes; the old key is then worth nothing. Nothing is paired again.

            EXAMPLES
              kith device renew
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let trust = try options.trust()
        let old = trust.ownID
        let new = try trust.renewKey()
        if options.json { return try Console.output.write(json: ["id": new.description, "replaced": old.description]) }
        try Console.output.writeLine("This machine has a new key. Its id is now:\n  \(new)")
        try Console.output.writeLine("The other machines follow when they meet it; let `kith up` run here until they have.")
    }
}
