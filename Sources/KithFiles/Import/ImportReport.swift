/// What an import did, or would do.
public struct ImportReport: Hashable, Sendable {
    /// Something that did not fit.
    public struct Remark: Hashable, Sendable {
        /// The file, and the note in it if there are several.
        public let origin: String
        public let words: String
        /// Whether nothing of it was imported.
        public let isLeftOut: Bool
    }

    /// Notes that were added, those of the trash included.
    public internal(set) var added = 0
    /// Of these, the notes that are in the trash.
    public internal(set) var addedToTrash = 0
    /// Files that were attached to them.
    public internal(set) var attachments = 0
    /// Notes that are here already, word for word.
    public internal(set) var present = 0
    /// Notes and files that were left out.
    public internal(set) var leftOut = 0
    /// What did not fit, in the order in which it was met; at most ``remarksMax``.
    public internal(set) var remarks: [Remark] = []
    /// All remarks, counted.
    public internal(set) var remarkCount = 0

    public static let remarksMax = 10_000

    mutating func remark(_ origin: String, _ words: String, isLeftOut: Bool = true) {
        if isLeftOut { leftOut += 1 }
        remarkCount += 1
        if remarks.count < Self.remarksMax { remarks.append(Remark(origin: origin, words: words, isLeftOut: isLeftOut)) }
    }
}
