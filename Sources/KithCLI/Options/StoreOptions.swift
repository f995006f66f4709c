import ArgumentParser
import Foundation
import Kith
import KithNotes

/// The options that every command has.
struct StoreOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The database file of the notes.", valueName: "path"), completion: .file())
    var store: String?

    @Flag(help: "Print JSON instead of text for people.")
    var json = false

    func folders() throws(CommandFailure) -> Folders {
        try Folders(store: store)
    }

    /// Runs `body` with the notes open.
    func withNotes<Result>(_ body: (NotesStore) throws -> Result) throws -> Result {
        var options = NotesStore.Options()
        options.readsWhileWriting = false
        let notes = try NotesStore.open(folders().notes, options: options)
        defer { try? notes.close() }
        return try body(notes)
    }

    /// The list of trusted devices; this device gets its key if it has none yet.
    func trust() throws -> TrustStore {
        let folder = try folders().identity
        return try TrustStore(in: folder, ownID: DeviceKey.loadOrCreate(in: folder).id)
    }
}
