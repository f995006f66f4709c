import Foundation
import Kith
import KithNotes

/// Where this person's key and notes are kept.
struct Folders {
    /// The folder of the device key and the list of trusted devices.
    let identity: URL
    /// The database file of the notes, in another folder: people copy and back up that one.
    let notes: URL

    /// - Parameters:
    ///   - store: what was given with `--store`.
    ///   - environment: of which `KITH_HOME`, `XDG_CONFIG_HOME`, `XDG_DATA_HOME` and `HOME` are read.
    init(store: String?, environment: [String: String] = ProcessInfo.processInfo.environment) throws(CommandFailure) {
        let own = environment["KITH_HOME"].flatMap { $0.isEmpty ? nil : URL(filePath: $0, directoryHint: .isDirectory) }
        identity = own?.appending(path: "keys") ?? Self.folder("XDG_CONFIG_HOME", ".config", environment)
        if let store {
            guard !store.isEmpty else { throw CommandFailure(.usage, "--store needs the path of a file for the notes.") }
            notes = URL(filePath: store, directoryHint: .notDirectory)
        } else {
            notes = (own?.appending(path: "store") ?? Self.folder("XDG_DATA_HOME", ".local/share", environment))
                .appending(path: "notes.sqlite")
        }
        let folder = notes.deletingLastPathComponent().resolvingSymlinksInPath().standardizedFileURL.path
        if folder == identity.resolvingSymlinksInPath().standardizedFileURL.path {
            throw CommandFailure(
                .usage,
                "The notes cannot be kept in \(folder): this device's secret key is there, and a copy of the notes would take it along. Choose another folder."
            )
        }
    }

    /// Where a folder on the way to the notes cannot be entered, nothing is known of them: neither that there are none, nor that they are gone.
    func checkNotesCanBeSeen() throws(CommandFailure) {
        guard access(notes.path, F_OK) != 0, ![ENOENT, ENOTDIR].contains(errno) else { return }
        throw CommandFailure(
            .noInput,
            """
            Nothing is known of the notes in \(notes.path), which cannot be looked at: \(String(cString: strerror(errno))). Is this the right \
            user, and may it enter the folders on the way?
            """)
    }

    /// How the notes are opened. What they are known by names this device from the beginning, which gets its key then if it has none;
    /// where none can be made, they are written all the same.
    var notesOptions: NotesStore.Options {
        var options = NotesStore.Options()
        options.storeOptions.deviceKey = { [identity] in try? DeviceKey.loadOrCreate(in: identity).publicKeyBytes }
        return options
    }

    /// The folder `kith` in one of the folders of the XDG Base Directory Specification; relative ones do not count there.
    private static func folder(_ variable: String, _ standard: String, _ environment: [String: String]) -> URL {
        func absolute(_ name: String) -> URL? {
            environment[name].flatMap { $0.hasPrefix("/") ? URL(filePath: $0, directoryHint: .isDirectory) : nil }
        }
        let home = absolute("HOME") ?? FileManager.default.homeDirectoryForCurrentUser
        return (absolute(variable) ?? home.appending(path: standard)).appending(path: "kith")
    }
}
