import Foundation

extension SyncedApp {
    /// Where an app keeps its database and, apart from it, the secret key of this device and the list of those that it trusts.
    public struct Place: Hashable, Sendable {
        enum Kind: Hashable {
            case standard
            case folder(URL)
            case group(String)
            case database(URL, keys: URL?)
            case memory
        }

        let kind: Kind

        /// Where the platform wants it: on Linux `$XDG_DATA_HOME/ID/app.sqlite` and `$XDG_CONFIG_HOME/ID/keys`, on Apple's systems
        /// `ID/Data/app.sqlite` and `ID/Keys` in Application Support.
        public static let standard = Place(kind: .standard)

        /// A folder of one's own, with `data/app.sqlite` and `keys` in it.
        public static func folder(_ url: URL) -> Place { Place(kind: .folder(url)) }

        #if canImport(Darwin)
        /// The container of an app group, which an app and its extensions share.
        public static func appGroup(_ identifier: String) -> Place { Place(kind: .group(identifier)) }
        #endif

        /// A database that the app has already, or will have, in this file. What its tables hold is adopted. Keys go to the standard place
        /// without a folder for them, which must not be that of the database: people copy and back up that one.
        public static func database(_ file: URL, keys: URL? = nil) -> Place { Place(kind: .database(file, keys: keys)) }

        /// In memory, for tests and previews: all of it works, and synchronises with other apps of this process that it is introduced to, see
        /// ``SyncedApp/meet(_:)``. Keys and attachments are in a temporary folder that goes with the object.
        public static let inMemory = Place(kind: .memory)
    }

    /// Where everything of an app is.
    public struct Folders: Hashable, Sendable {
        /// The file of the database. Beside it are its log, attachments, and files of the store.
        public let database: URL
        /// The folder of this device's key and of the devices that it trusts.
        public let keys: URL

        /// The place as it is on this system.
        ///
        /// - Parameter environment: of which `XDG_DATA_HOME`, `XDG_CONFIG_HOME` and `HOME` are read; relative folders do not count there.
        /// - Returns: `nil` in memory.
        init?(_ place: Place, of app: AppID, environment: [String: String] = ProcessInfo.processInfo.environment) throws(SyncedAppError) {
            switch place.kind {
            case .memory: return nil
            case .folder(let url):
                self.init(database: url.appending(path: "data/app.sqlite"), keys: url.appending(path: "keys", directoryHint: .isDirectory))
            case .database(let file, let keys):
                if let keys {
                    self.init(database: file, keys: keys)
                } else {
                    self.init(database: file, keys: try Self.standard(app, environment).keys)
                }
            case .group(let identifier): self = try Self.group(identifier, app)
            case .standard: self = try Self.standard(app, environment)
            }
            try checkThatKeysAreApart()
        }

        init(database: URL, keys: URL) {
            self.database = database
            self.keys = keys
        }

        private func checkThatKeysAreApart() throws(SyncedAppError) {
            let data = Self.parts(of: database.deletingLastPathComponent())
            guard Self.parts(of: keys).starts(with: data) else { return }
            throw SyncedAppError(
                .unusableFolder,
                """
                The database \(database.path) cannot be kept there: this device's secret key would be in the same folder, \(keys.path), and a \
                copy of the data would take it along. Name another folder for one of them.
                """)
        }

        private static func parts(of folder: URL) -> [String] {
            folder.resolvingSymlinksInPath().standardizedFileURL.pathComponents.filter { $0 != "/" }
        }

        #if canImport(Darwin)
        private static func standard(_ app: AppID, _ environment: [String: String]) throws(SyncedAppError) -> Folders {
            guard let folder = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first else {
                throw SyncedAppError(.unusableFolder, "This system has no folder for Application Support. Name a folder.")
            }
            return inSupport(folder, app)
        }

        private static func group(_ identifier: String, _ app: AppID) throws(SyncedAppError) -> Folders {
            guard let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: identifier) else {
                throw SyncedAppError(
                    .unusableFolder, "There is no app group \(identifier). Add it to the entitlements of the app and its extensions.")
            }
            return inSupport(container.appending(path: "Library/Application Support"), app)
        }

        private static func inSupport(_ folder: URL, _ app: AppID) -> Folders {
            let own = folder.appending(path: app.description, directoryHint: .isDirectory)
            return Folders(
                database: own.appending(path: "Data/app.sqlite"), keys: own.appending(path: "Keys", directoryHint: .isDirectory))
        }
        #else
        private static func standard(_ app: AppID, _ environment: [String: String]) throws(SyncedAppError) -> Folders {
            func absolute(_ name: String) -> URL? {
                environment[name].flatMap { $0.hasPrefix("/") ? URL(filePath: $0, directoryHint: .isDirectory) : nil }
            }
            let home = absolute("HOME") ?? FileManager.default.homeDirectoryForCurrentUser
            let data = absolute("XDG_DATA_HOME") ?? home.appending(path: ".local/share")
            let config = absolute("XDG_CONFIG_HOME") ?? home.appending(path: ".config")
            return Folders(
                database: data.appending(path: "\(app)/app.sqlite"),
                keys: config.appending(path: "\(app)/keys", directoryHint: .isDirectory))
        }

        private static func group(_ identifier: String, _ app: AppID) throws(SyncedAppError) -> Folders {
            throw SyncedAppError(.unusableFolder, "This system has no app groups. Name a folder that the processes share.")
        }
        #endif
    }
}
