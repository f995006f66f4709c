import ArgumentParser
import Kith

struct DeviceRenew: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Give this machine a new key, and with it a new id.",
        discussion: """
            Do this if another person may have copied the key, for instance from a backup. Each other machine of the household \
            takes over the new id by itself when it next meets this one, and from then on refuses the old key. You need not pair \
            again.

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
