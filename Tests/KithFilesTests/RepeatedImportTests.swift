import Foundation
import KithNotes
import KithStore
import Testing

@testable import KithFiles

@Suite("An import that is repeated doubles notes that did not change, or brings deleted ones back")
struct RepeatedImportTests {
    private let desk: ImportDesk

    init() throws {
        desk = try ImportDesk()
    }

    /// A note as an earlier version has imported it, without what is attached.
    private func add(_ origin: String, _ title: String, _ body: String, _ milliseconds: Int64? = nil) throws -> UUID {
        let id = UUID.derived(from: ["kith import 1", origin, title, body], milliseconds: milliseconds)
        let note = Note(id: id, title: title, body: body, createdMilliseconds: milliseconds ?? 1, updatedMilliseconds: milliseconds ?? 1)
        #expect(try desk.notes.insert([WholeNote(note)]) == [.added])
        return id
    }

    private func page(_ name: String, _ picture: String) throws {
        try desk.folder.write("pages/\(name).md", "# \(name)\n\n![Untitled](\(name)/Untitled.png)\n")
        try desk.folder.write("pages/\(name)/Untitled.png", picture)
    }

    @Test func `a new page with a picture of the same name changes nothing of the others`() throws {
        try page("Trip", "the trip")
        #expect(try desk.run("pages").added == 1)
        try page("Attic", "the attic")
        let report = try desk.run("pages")
        #expect(report.added == 1 && report.present == 1 && report.attachments == 1, "\(report)")
        for (name, picture) in [("Trip", "the trip"), ("Attic", "the attic")] {
            let note = try #require(try desk.notes.titled(name))
            #expect(note.body.contains("(attachments/Untitled.png)"), "\(note.body)")
            let file = try #require(try desk.notes.attachments(of: note.id).first.flatMap { try desk.notes.provenFile(of: $0) })
            #expect(try String(contentsOf: file.url, encoding: .utf8) == picture)
        }
        try desk.notes.delete([#require(try desk.notes.titled("Trip")).id])
        try page("Bath", "the bath")
        #expect(try desk.run("pages").added == 1)
        #expect(try desk.notes.titled("Trip") == nil)
    }

    @Test func `two files of one name that one note links to have two names there`() throws {
        try desk.folder.write("pages/A.md", "![](one/x.png) ![](two/x.png) ![](one/x.png)")
        try desk.folder.write("pages/one/x.png", "1")
        try desk.folder.write("pages/two/x.png", "2")
        #expect(try desk.run("pages").attachments == 2)
        let note = try #require(try desk.notes.titled("A"))
        #expect(note.body == "![](attachments/x.png) ![](attachments/x%20%282%29.png) ![](attachments/x.png)")
        #expect(try desk.notes.attachments(of: note.id).map(\.name) == ["x (2).png", "x.png"])
    }

    @Test func `notes that an earlier version imported, with names that depended on other notes, are known again`() throws {
        try page("Attic", "the attic")
        try page("Trip", "the trip")
        try desk.folder.write("pages/Web.md", "[part](Trip/Untitled.png#part)")
        let old = [
            try add("Attic.md", "Attic", "# Attic\n\n![Untitled](attachments/Untitled.png)\n"),
            try add("Trip.md", "Trip", "# Trip\n\n![Untitled](attachments/Untitled%20%282%29.png)\n"),
            try add("Web.md", "Web", "[part](attachments/Untitled%20%282%29.png)"),
        ]
        try desk.notes.delete([old[1]])
        let report = try desk.run("pages")
        #expect(report.added == 0 && report.present == 2 && report.leftOut == 1, "\(report)")
        #expect(try desk.notes.list().count == 2 && desk.notes.trash().count == 1)
    }

    @Test func `a note that an earlier version imported is known again beside a new one with a picture of the same name`() throws {
        try page("Trip", "the trip")
        _ = try add("Trip.md", "Trip", "# Trip\n\n![Untitled](attachments/Untitled.png)\n")
        try page("Attic", "the attic")
        let report = try desk.run("pages")
        #expect(report.added == 1 && report.present == 1, "\(report)")
    }

    private func joplin(_ names: [String]) throws {
        for (number, name) in names.enumerated() {
            let (note, file) = (String(repeating: "\(9 - number)", count: 32), String(repeating: "\(9 - number)", count: 31) + "0")
            try desk.folder.write("jex/\(note).md", "\(name)\n\nsee ![](:/\(file))\n\nid: \(note)\ntype_: 1")
            try desk.folder.write("jex/\(file).md", "image.png\n\nid: \(file)\nmime: image/png\nfile_extension: png\ntype_: 4")
            try desk.folder.write("jex/resources/\(file).png", "picture of \(name)")
        }
    }

    @Test func `a note of Joplin is the same, whatever other notes are in the next export`() throws {
        try joplin(["Old"])
        #expect(try desk.run("jex").added == 1)
        try joplin(["Old", "New"])
        let report = try desk.run("jex")
        #expect(report.added == 1 && report.present == 1 && report.remarks.isEmpty, "\(report)")
        #expect(try desk.notes.list().map(\.body) == ["see ![](attachments/image.png)", "see ![](attachments/image.png)"])
    }

    @Test func `a note of Joplin that an earlier version imported is not said to differ`() throws {
        try joplin(["Old", "New"])
        let id = try #require(UUID(uuidString: "99999999-9999-9999-9999-999999999999"))
        let body = "see ![](attachments/image%20%282%29.png)"
        let old = Note(id: id, title: "Old", body: body, createdMilliseconds: 1, updatedMilliseconds: 1)
        #expect(try desk.notes.insert([WholeNote(old)]) == [.added])
        let report = try desk.run("jex")
        #expect(report.added == 1 && report.present == 1 && report.remarks.isEmpty, "\(report)")
    }

    @Test func `pictures of Keep and files of Evernote are numbered within their note alone`() throws {
        for (number, name) in ["a", "b"].enumerated() {
            try desk.folder.write(
                "Keep/\(name).json",
                #"{"title":"\#(name)","textContent":"x","userEditedTimestampUsec":1,"attachments":[{"filePath":"\#(name)/p.png"}]}"#)
            try desk.folder.write("Keep/\(name)/p.png", "\(number)")
        }
        #expect(try desk.run("Keep").attachments == 2)
        #expect(try desk.notes.list().map(\.body) == Array(repeating: "x\n\n![](attachments/p.png)", count: 2))
        let xml = ["c", "d"].map { name in
            "<note><title>\(name)</title><content><![CDATA[<en-note>y</en-note>]]></content><resource><data encoding=\"base64\">eA==</data>"
                + "<resource-attributes><file-name>q.bin</file-name></resource-attributes></resource></note>"
        }
        try desk.folder.write("two.enex", "<?xml version=\"1.0\"?><en-export>\(xml.joined())</en-export>")
        #expect(try desk.run("two.enex").attachments == 2)
        for name in ["c", "d"] {
            let note = try #require(try desk.notes.titled(name))
            #expect(try desk.notes.attachments(of: note.id).map(\.name) == ["q.bin"])
        }
    }

    @Test func `a picture of Keep that had another name in an earlier version makes no second note`() throws {
        for name in ["a", "b"] {
            try desk.folder.write(
                "Keep/\(name).json",
                #"{"title":"\#(name)","textContent":"x","userEditedTimestampUsec":1000,"attachments":[{"filePath":"\#(name)/p.png"}]}"#)
            try desk.folder.write("Keep/\(name)/p.png", name)
        }
        _ = try add("a.json", "a", "x\n\n![](attachments/p.png)", 1)
        _ = try add("b.json", "b", "x\n\n![](attachments/p%20%282%29.png)", 1)
        let report = try desk.run("Keep")
        #expect(report.added == 0 && report.present == 2, "\(report)")
    }

    @Test func `a note in which an earlier version left the folder of an embedded file is known again`() throws {
        try desk.folder.write("vault/a.md", "![[pics/a.png]] and ![](b.png)")
        for name in ["pics/a.png", "b.png"] { try desk.folder.write("vault/\(name)", name) }
        _ = try add("a.md", "a", "![[pics/a.png]] and ![](attachments/b.png)", nil)
        let report = try desk.run("vault")
        #expect(report.added == 0 && report.present == 1, "\(report)")
    }

    @Test func `a note that an earlier version imported in any zone of the world is known again`() throws {
        var note = ForeignNote(origin: "a.md", title: "a", body: "x")
        for year in 1980...2030 {
            for day in ["01-15", "04-15", "07-15", "10-15"] {
                let time = try #require(TimeText.milliseconds("\(year)-\(day)T00:00:00Z"))
                note.zonelessCreatedMilliseconds = time
                let known = Set(note.formerIDs)
                let date = Date(timeIntervalSince1970: Double(time) / 1_000)
                let zones = TimeZone.knownTimeZoneIdentifiers.compactMap { TimeZone(identifier: $0)?.secondsFromGMT(for: date) }
                for seconds in Set(zones) {
                    let id = UUID.derived(from: ["kith import 1", "a.md", "a", "x"], milliseconds: time - Int64(seconds) * 1_000)
                    #expect(known.contains(id), "\(year)-\(day): \(seconds / 60) minutes")
                }
            }
        }
    }

    @Test(arguments: [-5, 0, 1, 13])
    func `a note that an earlier version imported in another zone is known again`(hours: Int64) throws {
        try desk.folder.write("days/a.md", "---\ncreated: 2021-01-31\n---\nx")
        let start = try #require(TimeText.milliseconds("2021-01-31T00:00:00Z"))
        _ = try add("a.md", "a", "x", start - hours * 3_600_000)
        let report = try desk.run("days")
        #expect(report.added == 0 && report.present == 1, "\(report)")
        // Also one with a link to a file, once its time has changed by a zone's difference.
        for number in 1...2 {
            try desk.folder.write("pictures/b.md", "---\ncreated: 2021-01-31 0\(number):00\n---\n![](p.png)")
            try desk.folder.write("pictures/p.png", "picture")
            let report = try desk.run("pictures")
            #expect(report.added == 2 - number && report.present == number - 1, "\(report)")
        }
    }
}
