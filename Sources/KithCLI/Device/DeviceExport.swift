import ArgumentParser
import Foundation
import Kith

struct DeviceExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Put the identity of this machine into a file that a passphrase opens.",
        discussion: """
            For a backup, or to move to another machine: the key, the household and the list of machines, not the notes. Without a \
            terminal the passphrase is the first line of standard input. Two machines may not use one identity at the same time. \
            A person who has the file and the passphrase can pass for this machine. To end that, run `kith device renew` here, or \
            `kith device revoke` on another machine.

            EXAMPLES
              kith device export desk.kith
            """)

    @Argument(help: "The file to make, which must not exist.", completion: .file(), transform: GivenPath.read)
    var file: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        guard !FileManager.default.fileExists(atPath: file) else {
            throw CommandFailure(.cannotCreate, "\(file) exists already. Name a new file.")
        }
        let folder = try options.identity()
        _ = try DeviceKey.load(from: folder)
        try IdentityArchive.export(from: folder, to: file, passphrase: Passphrase.readNew())
        if options.json { return try Console.output.write(json: ["file": file]) }
        try Console.output.writeLine("The identity of this machine is in \(PlainText.line(file)). The notes are not.")
    }
}
