/// What an export wrote.
package struct ExportReport: Hashable, Sendable {
    /// An attachment that could not be written, since its bytes are not here.
    package struct Missing: Hashable, Sendable, Encodable {
        package let note: String
        package let attachment: String

        /// For people.
        package var sentence: String { "The attachment \(attachment) of \(note) is not here, or damaged, and was left out." }
    }

    package internal(set) var notes = 0
    /// Notes of the trash.
    package internal(set) var trashed = 0
    package internal(set) var attachments = 0
    package internal(set) var missing: [Missing] = []
}

/// How an export is done.
package struct ExportOptions: Sendable {
    /// Whether the notes of the trash are exported, too.
    package var includesTrash = true
    /// Called now and then with the number of notes that were written.
    package var progress: @Sendable (Int) -> Void = { _ in }

    package init() {}

    static let progressStep = 500
}
