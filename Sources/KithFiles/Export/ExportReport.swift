/// What an export wrote.
public struct ExportReport: Hashable, Sendable {
    /// An attachment that could not be written, since its bytes are not here.
    public struct Missing: Hashable, Sendable {
        public let note: String
        public let attachment: String
    }

    public internal(set) var notes = 0
    /// Notes of the trash.
    public internal(set) var trashed = 0
    public internal(set) var attachments = 0
    public internal(set) var missing: [Missing] = []
}

/// How an export is done.
public struct ExportOptions: Sendable {
    /// Whether the notes of the trash are exported, too.
    public var includesTrash = true
    /// Called now and then with the number of notes that were written.
    public var progress: @Sendable (Int) -> Void = { _ in }

    public init() {}

    static let progressStep = 500
}
