import Foundation
import Kith

/// A field of a note that several machines wrote without having seen each other's text. Nothing is lost: one version is
/// shown, the others are kept until someone chooses.
public struct NoteConflict: Hashable, Sendable {
    /// One of the versions.
    public struct Version: Hashable, Sendable {
        /// What it says, in words that can be shown.
        public let text: String
        let value: Value
    }

    public let noteID: UUID
    /// The note's title, as it is shown.
    public let title: String
    /// Title or color.
    public let field: NoteField
    /// The one that is shown comes first, and each text occurs once; at least two.
    public let versions: [Version]
}
