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

    /// Runs `body` with the notes open, for a command that has more to say than what is in them. Returns `nil` where there are none
    /// yet, and where they cannot be read; a line on standard error then says why.
    func withNotesIfReadable<Result>(_ body: (NotesStore) throws -> Result) throws -> Result? {
        guard FileManager.default.fileExists(atPath: try folders().notes.path) else { return nil }
        do {
            return try withNotes(body)
        } catch {
            let reason = CommandFailure(error)?.message ?? "\(error)"
            try Console.error.writeLine(PlainText.line("What the notes know of the other machines is unknown. \(reason)"))
            return nil
        }
    }

    /// What the node that runs for these notes says of itself; `nil` if none runs. One that was killed could not remove its status.
    func runningNode(for notes: NotesStore) throws -> NodeStatus? {
        guard let status = StatusFile(forStore: try folders().notes).read() else { return nil }
        do {
            try notes.store.takeNodeLock().release()
            return nil
        } catch let error as StoreError where error.code == .busy {
            return status
        }
    }

    /// The trusted devices. Where there is no key yet, none is made for this.
    func trustedDevices() throws -> [TrustedDevice] {
        let folder = try folders().identity
        return try TrustStore(in: folder, ownID: DeviceKey.load(from: folder).id).devices
    }

    /// What to call the machines that wrote something. Notes are shown whatever is wrong with the key or the list.
    func deviceNames() -> DeviceNames { DeviceNames((try? trustedDevices()) ?? []) }

    /// The list of trusted devices; this device gets its key if it has none yet.
    func trust() throws -> TrustStore {
        let folder = try folders().identity
        return try TrustStore(in: folder, ownID: DeviceKey.loadOrCreate(in: folder).id)
    }
}
