import ArgumentParser
import Foundation
import Kith

struct DeviceImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take over the identity that another machine exported.",
        discussion: """
            The other machine has to stop for good: two that use one identity disturb each other. Nothing is overwritten: this \
            machine must not have an identity yet. It adds, renames and revokes nothing until it has met another member: let `kith up` run.

            EXAMPLES
              kith device import desk.kith
            """)

    @Argument(help: "What `kith device export` made.", completion: .file(), transform: GivenPath.read)
    var file: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        // A folder can be opened, but not read.
        guard let handle = FileHandle(forReadingAtPath: file),
            let archive = try? handle.read(upToCount: IdentityArchive.bytesMax + 1) ?? Data()
        else { throw CommandFailure(.noInput, "\(file) cannot be read. Check the path.") }
        let id = try Passphrase.opening { try IdentityArchive.restore(Array(archive), passphrase: $0(), into: options.identity()) }
        if options.json { return try Console.output.write(json: ["id": id.description]) }
        try Console.output.writeLine("This machine is now the device \(id).")
    }
}
