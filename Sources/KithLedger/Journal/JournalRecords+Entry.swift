extension JournalRecords {
    /// A transaction, without what it has changed.
    package struct Entry: Hashable, Sendable {
        package let number: Int64
        /// The replica that this store was.
        package let replica: Int
        package let milliseconds: Int64
        /// `nil` for a merge.
        package let process: String?
        package let label: JournalNotes.Label
    }
}
