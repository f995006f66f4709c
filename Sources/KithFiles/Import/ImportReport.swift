/// What an import did, or would do.
package struct ImportReport: Hashable, Sendable {
    /// Something that did not fit.
    package struct Remark: Hashable, Sendable {
        /// The file, and the note in it if there are several.
        package let origin: String
        package let words: String
        /// Whether nothing of it was imported.
        package let isLeftOut: Bool
    }

    /// Notes that were added, those of the trash included.
    package internal(set) var added = 0
    /// Of these, the notes that are in the trash.
    package internal(set) var addedToTrash = 0
    /// Files that were attached to them.
    package internal(set) var attachments = 0
    /// Notes that are here already, word for word.
    package internal(set) var present = 0
    /// Notes and files that were left out.
    package internal(set) var leftOut = 0
    /// Notes in folders or notebooks that were not kept, since they were not to be tags.
    package internal(set) var inFolders = 0
    /// What did not fit, in the order in which it was met; at most ``remarksMax``.
    package internal(set) var remarks: [Remark] = []
    /// All remarks, counted.
    package internal(set) var remarkCount = 0

    static let remarksMax = 10_000

    /// Names what was read by the path that a person gave.
    mutating func name(_ path: String, insteadOf unpacked: String) {
        remarks = remarks.map { remark in
            remark.origin == unpacked ? Remark(origin: path, words: remark.words, isLeftOut: remark.isLeftOut) : remark
        }
    }

    mutating func remark(_ origin: String, _ words: String, isLeftOut: Bool = true) {
        if isLeftOut { leftOut += 1 }
        remarkCount += 1
        if remarks.count < Self.remarksMax { remarks.append(Remark(origin: origin, words: words, isLeftOut: isLeftOut)) }
    }
}
