import Foundation
import KithNotes

/// A note in the list of the full-screen view.
struct ViewedNote: Equatable {
    let id: UUID
    let title: String
    let changedMilliseconds: Int64
    let color: TextStyle?
    /// Whether several versions of something in it are kept.
    let isInConflict: Bool
}

/// The note that is chosen, to be read.
struct ViewedText: Equatable {
    let id: UUID
    let title: String
    /// Tags, times, attachments.
    let facts: String
    let body: String

    /// All of it in lines of this width: title, facts, an empty line, the body.
    func lines(width: Int) -> [(text: String, style: TextStyle?)] {
        let body = body.isEmpty ? [] : [("", nil)] + TextWrapping.lines(of: body, width: width).map { ($0, nil as TextStyle?) }
        return TextWrapping.lines(of: title, width: width).map { ($0, .bold) }
            + TextWrapping.lines(of: facts, width: width).map { ($0, .dim) } + body
    }
}

/// A field that was written on two machines at the same time.
struct ViewedConflict: Equatable {
    /// One of its versions.
    struct Version: Equatable {
        let text: String
        /// Who wrote it, and when.
        let origin: String
    }

    let title: String
    let field: String
    /// What lines of a body say as they were merged; `nil` for other fields, of which the first version is shown.
    let shown: String?
    let versions: [Version]
}
