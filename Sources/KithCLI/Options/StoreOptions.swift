import ArgumentParser
import Foundation
import Kith
import KithNotes
import KithReport
import Synchronization

/// The options that every command has.
struct StoreOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The database file of the notes.", valueName: "path"), completion: .file())
    var store: String?

    @Flag(help: "Print JSON instead of text for people.")
    var json = false

    @Flag(help: "Say more on standard error: details of an error, and of `up` what happens on the network.")
    var verbose = false

    /// Where everything is. If nothing is there yet, the command says what to do.
    func folders() throws(CommandFailure) -> Folders {
        let folders = try foldersOfKey()
        try folders.checkNotesCanBeSeen()
        return folders
    }

    private func foldersOfKey() throws(CommandFailure) -> Folders {
        let folders = try Folders(store: store)
        if !json { FirstStart.tell(folders) }
        return folders
    }

    /// Where the key and the list of trusted devices are, for commands that need no notes.
    func identity() throws(CommandFailure) -> URL { try foldersOfKey().identity }

    /// The same for a command that makes no file of notes where `--store` says, or, if it needs notes, none at all.
    func foldersWithFile(needingNotes needsNotes: Bool = false) throws(CommandFailure) -> Folders {
        let folders = try folders()
        if FileManager.default.fileExists(atPath: folders.notes.path) || NotesStore.loss(in: folders.notes) != nil { return folders }
        if store != nil {
            throw CommandFailure(
                .noInput, "There is no file \(folders.notes.path). `kith note add` and `kith import` make one where --store says.")
        }
        if needsNotes {
            throw CommandFailure(
                .noInput,
                "There are no notes: there is no file \(folders.notes.path). Is this the right user, and KITH_HOME what it should be?")
        }
        return folders
    }

    /// Runs `body` with the notes open.
    ///
    /// - Parameters:
    ///   - makesFile: whether there may be no file yet where `--store` says; a slip of the fingers makes none otherwise.
    ///   - needsNotes: whether there must be a file also where notes are kept without `--store`.
    ///   - onlyReading: whether `body` only reads. Then it is run with a copy that cannot be written where another process keeps the notes
    ///     locked, and once more with one if the disk keeps it from writing.
    func withNotes<Result>(
        makingFile makesFile: Bool = false, needingNotes needsNotes: Bool = false, onlyReading: Bool = false,
        _ body: (NotesStore) throws -> Result
    ) throws -> Result {
        let folders = try makesFile ? folders() : foldersWithFile(needingNotes: needsNotes)
        var options = folders.notesOptions
        options.readsWhileWriting = false
        options.opensReadOnly = true
        if onlyReading { options.busyTimeoutSeconds = min(options.busyTimeoutSeconds, Self.readingWaitSeconds) }
        let notes = try Self.open(folders.notes, options, onlyReading: onlyReading)
        defer { try? notes.close() }
        if let reason = notes.readOnlyReason { Self.readOnlyReason.withLock { $0 = reason } }
        do {
            return try body(notes)
        } catch  where onlyReading && notes.readOnlyReason == nil && Self.isOfNotes(error) {
            // Beside a node that has the notes open, a full disk shows only once something is written.
            let failure = CommandFailure(error)
            let message = failure?.status == .temporary ? Self.lockedReason : failure?.message ?? "\(error)"
            try? notes.close()
            guard let copy = NotesStore.openToRead(folders.notes, options: options, because: message) else { throw error }
            defer { try? copy.close() }
            guard let result = try? body(copy) else { throw error }
            Self.readOnlyReason.withLock { $0 = copy.readOnlyReason }
            return result
        }
    }

    private static func open(_ file: URL, _ options: NotesStore.Options, onlyReading: Bool) throws(NotesError) -> NotesStore {
        do throws(NotesError) {
            return try NotesStore.open(file, options: options)
        } catch {
            guard onlyReading, error.code == .busy, let copy = NotesStore.openToRead(file, options: options, because: lockedReason) else {
                throw error
            }
            return copy
        }
    }

    /// How long a command that only reads waits for a lock: what it would see then is there already.
    private static let readingWaitSeconds = 2.0
    private static let lockedReason = "Another process keeps the notes locked. What it has not committed is not shown."

    /// Whether the disk of the notes is full, not the one that something is written to; or they were locked since they were opened.
    private static func isOfNotes(_ error: any Error) -> Bool {
        guard error is NotesError || error is StoreError, let status = CommandFailure(error)?.status else { return false }
        return [.inputOutput, .temporary].contains(status)
    }

    /// Why notes were only read, for a line at the end of a command that did what it was to do.
    static let readOnlyReason = Mutex<String?>(nil)

    /// Runs `body` with the notes open, for a command that has more to say than what is in them. Returns `nil` where there are none
    /// yet, and where they cannot be read; a line on standard error then says why.
    func withNotesIfReadable<Result>(_ body: (NotesStore) throws -> Result) throws -> Result? {
        let file = try folders().notes
        guard FileManager.default.fileExists(atPath: file.path) || NotesStore.loss(in: file) != nil else { return nil }
        do {
            return try withNotes(onlyReading: true, body)
        } catch {
            let reason = CommandFailure(error)?.message ?? "\(error)"
            try Console.error.writeLine(PlainText.line("What the notes know of the other machines is unknown. \(reason)"))
            return nil
        }
    }

    /// What the node that runs for these notes says of itself; `nil` if none runs. One that was killed could not remove its status.
    func runningNode() throws -> NodeStatus? {
        StatusReport.node(of: try folders().notes)
    }

    /// The trusted devices. Where there is no key yet, none is made for this.
    func trustedDevices() throws -> [TrustedDevice] { try trustThatIsThere().devices }

    private func trustThatIsThere() throws -> TrustStore {
        let folder = try identity()
        return try TrustStore(in: folder, ownID: DeviceKey.load(from: folder).id)
    }

    /// The same for commands that say how things stand: where this device has no key and none can be made, it trusts nobody, and `obstacle`
    /// says why.
    func trustIfPossible() throws -> (trust: TrustStore, obstacle: String?) {
        do {
            return (try trust(), nil)
        } catch let error as TrustError where error.code == .fileSystem {
            let folder = try identity()
            // Whoever has a key needs nothing to be written.
            if let key = try? DeviceKey.load(from: folder) { return (try TrustStore(in: folder, ownID: key.id), nil) }
            return (try TrustStore(in: folder, ownID: DeviceKey().id), error.message)
        }
    }

    /// What to call the machines that wrote something. Notes are shown whatever is wrong with the key or the list.
    func deviceNames() -> DeviceNames { (try? trustThatIsThere())?.deviceNames ?? DeviceNames([]) }

    /// The list of trusted devices; this device gets its key if it has none yet.
    func trust() throws -> TrustStore {
        let folder = try identity()
        return try TrustStore(in: folder, ownID: DeviceKey.loadOrCreate(in: folder).id)
    }
}
