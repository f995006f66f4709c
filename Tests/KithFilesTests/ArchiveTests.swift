import Foundation
import KithNotes
import Testing

@testable import KithFiles

@Suite("An archive that other programs open is not imported, or one that is not to be trusted does harm")
struct ArchiveTests {
    private let desk: ImportDesk

    init() throws {
        desk = try ImportDesk()
    }

    /// Makes `all.zip` of what the lines of Python put into `z`.
    private func zip(_ lines: String) throws {
        try desk.folder.write("make.py", "import zipfile, io\nwith zipfile.ZipFile('all.zip', 'w') as z:\n    \(lines)\n")
        try desk.folder.shell("python3 make.py")
    }

    private func titles() throws -> Set<String> { Set(try desk.notes.list().map(\.title)) }

    @Test func `names of Windows are read: with backslashes, and in the code page of zip`() throws {
        // Python writes UTF-8, and the mark for it: without the mark, and in another form of the name, it is as old programs write it.
        try zip(
            """
            z.writestr('notes/p.png', 'P')
                i = zipfile.ZipInfo('x'); i.filename = 'notes\\\\Back.md'; z.writestr(i, '![](p.png)')
                z.writestr('M#nchen.md', 'beer'); z.writestr('Stra@e/Gr#n.md', 'green')
            b = open('all.zip', 'rb').read().replace(b'M#n', b'M\\x81n').replace(b'a@e/Gr#n', b'a\\xe1e/Gr\\x81n')
            open('all.zip', 'wb').write(b)
            """)
        let report = try desk.run("all.zip")
        #expect(report.added == 3 && report.attachments == 1 && report.leftOut == 0, "\(report)")
        #expect(try titles() == ["Back", "München", "Grün"])
    }

    @Test func `a name in a tar archive that is no text leaves out that file alone`() throws {
        let script = """
            import tarfile, io
            with tarfile.open('all.tar', 'w', format=tarfile.GNU_FORMAT, encoding='latin-1') as t:
                for name in ['Good.md', 'B\u{E4}d.md']:
                    i = tarfile.TarInfo(name); i.size = 1; t.addfile(i, io.BytesIO(b'x'))
            """
        try desk.folder.write("make.py", script)
        try desk.folder.shell("python3 make.py")
        let report = try desk.run("all.tar")
        #expect(report.added == 1 && report.remarks.map(\.words) == ["Its name is not UTF-8."], "\(report)")
        #expect(try titles() == ["Good"])
    }

    @Test func `archives in an archive are read, as Notion packs them, and beside other files they are not`() throws {
        let inner =
            "b = io.BytesIO(); w = zipfile.ZipFile(b, 'w'); w.writestr('%', 'text ![](p.png)'); w.writestr('p%.png', 'P'); w.close()"
        func part(_ number: Int) -> String {
            inner.replacing("'%'", with: "'Note \(number).md'").replacing("p%.png", with: number == 1 ? "p.png" : "q.png")
                + "; z.writestr('Part-\(number).zip', b.getvalue())"
        }
        try zip(part(1) + "\n    " + part(2))
        let report = try desk.run("all.zip")
        #expect(report.added == 2 && report.attachments == 2 && report.leftOut == 0, "\(report)")
        #expect(try titles() == ["Note 1", "Note 2"])
        #expect(try desk.run("all.zip").present == 2)
        // Not a second time within each other, and not beside notes, where they are files like others.
        try desk.folder.shell("mv all.zip deep.zip")
        try zip("z.write('deep.zip')\n    z.writestr('Beside.md', 'x')")
        let second = try ImportDesk()
        #expect(try NoteImport.run(desk.folder.path("all.zip"), into: second.notes).added == 1)
        try zip("z.write('deep.zip')")
        #expect(throws: FilesError.self) { try NoteImport.run(desk.folder.path("all.zip"), into: second.notes) }
    }

    @Test(
        "an archive of a folder has the notes of the folder, and those that earlier versions made of it",
        arguments: ["tar czf all.tgz vault", "tar czf all.tgz -C vault ."])
    func outerFolder(pack: String) throws {
        let folder =
            "mkdir -p vault/work && printf text > vault/Note.md && printf other > vault/work/Plan.md && touch vault/x.csv && "
        try desk.folder.shell(folder + pack)
        let earlier = UUID.derived(from: ["kith import 1", "vault/Note.md", "Note", "text"], milliseconds: nil)
        for (first, second) in [("all.tgz", "vault"), ("vault", "all.tgz")] {
            let desk = try ImportDesk()
            #expect(try NoteImport.run(self.desk.folder.path(first), into: desk.notes).added == 2)
            let report = try NoteImport.run(self.desk.folder.path(second), into: desk.notes)
            #expect(report.added == 0 && report.present == 2, "\(first): \(report)")
            #expect(report.remarks.map(\.origin) == [self.desk.folder.path(second)])
        }
        guard pack.hasSuffix("vault") else { return }
        _ = try desk.notes.add(once: earlier, title: "Note", body: "text")
        let report = try desk.run("all.tgz")
        #expect(report.added == 1 && report.present == 1, "\(report)")
    }

    @Test func `an archive within an archive becomes no larger than one by itself`() throws {
        try zip(
            """
            b = io.BytesIO(); w = zipfile.ZipFile(b, 'w', zipfile.ZIP_DEFLATED)
                for n in range(5): w.writestr('%d.md' % n, b' ' * (60 << 20))
                w.close(); z.writestr('a.zip', b.getvalue())
            """)
        let error = #expect(throws: FilesError.self) { try desk.run("all.zip") }
        #expect(error?.message.contains("all.zip: a.zip becomes much larger") == true, "\(String(describing: error))")
        #expect(try titles().isEmpty)
    }

    @Test func `what stops an archive is said: a password, or a file in the place of a folder`() throws {
        try zip("z.writestr('a', 'x')\n    z.writestr('a/b.md', 'y')")
        let both = #expect(throws: FilesError.self) { try desk.run("all.zip") }
        #expect(
            both?.code == .data && both?.message.contains("a file and a folder of one name (a/b.md)") == true, "\(String(describing: both))"
        )
        // The mark of a password, in both places of the entry.
        try zip(
            """
            z.writestr('Secret.md', 'x' * 20)
            b = bytearray(open('all.zip', 'rb').read())
            b[6] |= 1; b[b.index(b'PK\\x01\\x02') + 8] |= 1
            open('all.zip', 'wb').write(b)
            """)
        let locked = #expect(throws: FilesError.self) { try desk.run("all.zip") }
        #expect(locked?.message.contains("password") == true, "\(String(describing: locked))")
        #expect(try titles().isEmpty)
    }
}
