import Foundation
import KithNotes
import Testing

@testable import KithFiles

@Suite("A file is not found, because its name has a sign that means something else in links")
struct OddNameTests {
    /// And as Kith writes them in `<` and `>`.
    private static let written = [
        "a#b.png": "a%23b.png", "50% off.png": "50% off.png", "100%20.png": "100%2520.png", "#1.png": "%231.png",
        "50% off%20#2.png": "50%25 off%2520%232.png", "ü#1.png": "ü%231.png", "100%ab.png": "100%ab.png", "ü.png": "ü.png",
    ]
    private static var names: [String] { written.keys.sorted() }

    /// As a person may write it in `<` and `>`.
    private static func encoded(_ name: String) -> String { name.replacing("%", with: "%25").replacing("#", with: "%23") }

    private let desk: ImportDesk

    init() throws {
        desk = try ImportDesk()
    }

    @Test("an import attaches it, a site shows it, and an export brings it back", arguments: names, [true, false])
    func imported(name: String, isEncoded: Bool) throws {
        let link = isEncoded ? Self.encoded(name) : name
        try desk.folder.write("in/N.md", "![](<\(link)>) [x](<\(link)>)\n\n[d]: <\(link)>\n")
        try desk.folder.write("in/\(name)", "picture")
        let report = try desk.run("in")
        #expect(report.attachments == 1 && report.remarks.isEmpty, "\(report)")
        let note = try #require(try desk.notes.titled("N"))
        #expect(try desk.notes.attachments(of: note.id).map(\.name) == [name])
        let path = "attachments/\(Self.written[name] ?? "")"
        #expect(note.body == "![](<\(path)>) [x](<\(path)>)\n\n[d]: <\(path)>\n")
        _ = try SiteExport.write(desk.notes, to: desk.folder.path("site"))
        let page = String(decoding: try desk.folder.bytes("site/N.html"), as: UTF8.self)
        #expect(page.contains("<img src=\"\(MarkdownLinks.encoded("attachments/\(name)"))\""), "\(page)")
        _ = try MarkdownExport.write(desk.notes, to: desk.folder.path("out"))
        let elsewhere = try desk.folder.notes("elsewhere")
        #expect(try NoteImport.run(desk.folder.path("out"), into: elsewhere).remarks.isEmpty)
        #expect(try elsewhere.everything() == desk.notes.everything())
    }

    @Test("a folder attaches it, whichever is there first, and a site shows it", arguments: names, [true, false])
    func inFolder(name: String, isEncoded: Bool) throws {
        let machine = try FolderMachine(desk.folder, "a")
        func save(_ text: String, as path: String) throws {
            try machine.save(text, as: path)
            machine.clock.advance(1_000)
            try machine.sync()
        }
        let link = isEncoded ? Self.encoded(name) : name
        let body = "![](<attachments/\(link)>) ![](<attachments/new \(link)>)"
        try save("picture", as: "attachments/\(name)")
        try save(body, as: "N.md")
        try save("another", as: "attachments/new \(name)")
        let note = try #require(try machine.notes.titled("N"))
        #expect(try note.body == body && Set(machine.notes.attachments(of: note.id).map(\.name)) == [name, "new \(name)"])
        _ = try SiteExport.write(machine.notes, to: desk.folder.path("site"))
        let page = String(decoding: try desk.folder.bytes("site/N.html"), as: UTF8.self)
        let isShown = page.contains("<img src=\"\(MarkdownLinks.encoded("attachments/\(name)"))\"")
        // In Markdown, `%20` is a space.
        #expect(isShown == (isEncoded || !name.contains("%20")), "\(page)")
        #expect(try machine.sync().isQuiet)
    }

    @Test(
        "a folder attaches the file that a link means, and no other one that it could mean",
        arguments: [
            ("![](attachments/a%20b.png)", "a b.png", "a%20b.png"), ("[r](attachments/report#v2)", "report", "report#v2"),
            ("![](attachments/a%20b.png)", "a%20b.png", "a b.txt"), ("[r](attachments/report#v2)", "report#v2", "repor"),
        ])
    func meant(link: String, name: String, other: String) throws {
        let machine = try FolderMachine(desk.folder, "a")
        try machine.save("this", as: "attachments/\(name)")
        try machine.save("other", as: "attachments/\(other)")
        machine.clock.advance(1_000)
        try machine.save(link, as: "N.md")
        machine.clock.advance(1_000)
        try machine.sync()
        let note = try #require(try machine.notes.titled("N"))
        #expect(try machine.notes.attachments(of: note.id).map(\.name) == [name])
    }
}
