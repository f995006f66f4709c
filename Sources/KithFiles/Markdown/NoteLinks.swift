import Foundation
import KithNotes

/// Where links between notes lead: to the note of this title; else to one whose title differs in case and accents alone, as with commands;
/// else to one that is called as the last part of a path, without `.md`. Of several, to the one that changed last.
package final class NoteLinks {
    /// The note of a title, to the byte.
    private let exact: (String) -> UUID?
    private let all: () -> [(id: UUID, title: String)]
    /// Read at the first link that leads to no note of this very title.
    private lazy var titles = all()
    private lazy var byFolded = Dictionary(titles.map { (NotesStore.folded($0.title), $0.id) }) { first, _ in first }
    private lazy var byFileName = Dictionary(titles.map { (FileName.key(FileName.stem(for: $0.title)), $0.id) }) { first, _ in first }

    package init(_ notes: NotesStore) {
        exact = { (try? notes.id(titled: $0)) ?? nil }
        all = { (try? notes.titles()) ?? [] }
    }

    /// - Parameter titles: of all notes, those that changed last first.
    init(titles: [(id: UUID, title: String)]) {
        let byTitle = Dictionary(titles.map { (Array($0.title.utf8), $0.id) }) { first, _ in first }
        exact = { byTitle[Array($0.utf8)] }
        all = { titles }
    }

    /// The note that `[[name]]` leads to.
    package func note(named name: String) -> UUID? {
        for title in Self.titles(meantBy: name) {
            if let id = exact(title) ?? byFolded[NotesStore.folded(title)] { return id }
        }
        return nil
    }

    /// The note that a relative link to the file `name.md` leads to: as ``note(named:)``, or by the name that its file has in an export.
    package func note(ofFile name: String) -> UUID? {
        note(named: name + Self.ending) ?? byFileName[FileName.key(name)]
    }

    private static let ending = ".md"

    private static func titles(meantBy name: String) -> [String] {
        let bare = name.lowercased().hasSuffix(ending) ? String(name.dropLast(ending.count)) : name
        var titles: [String] = []
        for title in [name, bare, RelativePath.name(of: bare)] where !title.isEmpty && !titles.contains(title) { titles.append(title) }
        return titles
    }

    /// The name, without its ending, of the file of a note that a relative link in HTML leads to, and whether it is one of Markdown; `nil`
    /// for any other link.
    package static func fileName(_ link: String) -> (name: String, isMarkdown: Bool)? {
        let path = link.prefix { $0 != "#" && $0 != "?" }
        // What has a scheme or begins with a slash is an address.
        guard !RelativePath.isAbsolute(String(path)), !path.utf8.contains(UInt8(ascii: ":")) else { return nil }
        let last = RelativePath.name(of: String(path))
        let name = last.removingPercentEncoding ?? last
        let ending = [ending, ".markdown", ".txt", ".html", ".htm"].first { name.lowercased().hasSuffix($0) }
        guard let ending, name.utf8.count > ending.utf8.count else { return nil }
        return (String(name.dropLast(ending.count)), ending.hasPrefix(".m"))
    }
}
