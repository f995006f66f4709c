import Foundation
import Testing

@Suite("A file cannot be attached to a note, or does not come back as it was")
struct AttachmentCommandTests {
    private let home: KithHome

    init() throws {
        home = try KithHome()
    }

    @Test func `a file that is attached is listed, shown, saved byte for byte, and detached`() throws {
        try home.kith("note", "add", "Trip", "--body", "Rome")
        let content = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let file = try home.write("photo.jpg", content)
        #expect(try home.kith("note", "attach", "Trip", file).output == "Attached \u{201C}photo.jpg\u{201D} (683 KiB).\n")

        let shown = try home.kith("note", "show", "Trip").output
        #expect(shown.contains("Rome") && shown.contains("683 KiB  here  photo.jpg"))
        let listed = try #require(try home.kith("note", "attachments", "Trip", "--json").json() as? [[String: Any]])
        #expect(listed.first?["name"] as? String == "photo.jpg")
        #expect(listed.first?["state"] as? String == "present")
        #expect(listed.first?["sizeBytes"] as? Int == 700_000 && listed.first?["receivedBytes"] as? Int == 700_000)

        let copy = home.path("copy.jpg")
        #expect(try home.kith("note", "save", "Trip", "photo.jpg", "--output", copy).status == 0)
        #expect(try Data(contentsOf: URL(filePath: copy)) == content)
        // What is there is not written over.
        expectFailure(try home.kith("note", "save", "Trip", "photo.jpg", "--output", copy), 73, "copy.jpg", "exists")
        expectFailure(try home.kith("note", "save", "Trip", "photo.jpg"), 73, "photo.jpg", "exists")
        #expect(try home.shell("\"$KITH\" note save Trip photo.jpg --output - | cmp - photo.jpg").status == 0)

        #expect(try home.kith("note", "detach", "Trip", "photo.jpg").output.hasPrefix("Detached"))
        #expect(try home.kith("note", "attachments", "Trip").output.isEmpty)
        for number in ["", " (2)"] {
            #expect(try home.kith("note", "attach", "Trip", file).output == "Attached \u{201C}photo\(number).jpg\u{201D} (683 KiB).\n")
        }
    }

    @Test func `what cannot be attached or found is refused in one line`() throws {
        try home.kith("note", "add", "Trip")
        expectFailure(try home.kith("note", "attach", "Trip", home.path("none")), 66, "none")
        expectFailure(try home.kith("note", "attach", "Trip", home.folder.path), 65, "regular file")
        // What was attached before one that cannot be is said.
        let here = home.path("here.txt")
        try Data("here".utf8).write(to: URL(filePath: here))
        let partly = try home.kith("note", "attach", "Trip", here, home.path("none"), "--json")
        #expect(partly.status == 66)
        #expect((try partly.json() as? [[String: Any]])?.map { $0["name"] as? String } == ["here.txt"])
        try home.kith("note", "detach", "Trip", "here.txt")
        expectFailure(try home.kith("note", "attach", "None", home.store.path), 66, "None")
        expectFailure(try home.kith("note", "save", "Trip", "none.jpg"), 66, "none.jpg", "It has none.")
        expectFailure(try home.kith("note", "detach", "Trip", "none.jpg"), 66, "none.jpg")
    }

    @Test func `bytes that the disk has changed are not saved, and noticed by verify and in lists`() throws {
        try home.kith("note", "add", "Trip")
        let content = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let file = try home.write("photo.jpg", content)
        for name in ["photo.jpg", "again.jpg"] {
            try home.kith("note", "attach", "Trip", file, "--name", name)
            let rows = name == "photo.jpg" ? 2 : 3
            let well = "All is well: \(rows) rows were read, deleted ones included, and 1 attachment.\n"
            #expect(try home.kith("verify").output == well)
        }
        try home.shell("f=$(find store -size +600k -name '*[0-9a-f]'); chmod 600 $f; printf x | dd of=$f bs=1 seek=500000 conv=notrunc")
        let saved = try home.kith("note", "save", "Trip", "photo.jpg", "--output", home.path("copy"))
        expectFailure(saved, 65, "photo.jpg", "damaged", "kith up")
        #expect(!FileManager.default.fileExists(atPath: home.path("copy")))
        #expect(try home.kith("note", "save", "Trip", "photo.jpg", "--output", "-").output.isEmpty)
        #expect(try home.kith("note", "attachments", "Trip").output.contains("damaged; fetched again"))
        let verified = try home.kith("verify", "--json")
        #expect(verified.status == 65)
        let report = try #require(verified.json() as? [String: Any])
        #expect(report["isSound"] as? Bool == false && (report["damagedAttachments"] as? [Any])?.count == 2)
        // The same content again mends it.
        try home.kith("note", "attach", "Trip", file)
        #expect(try home.kith("verify").status == 0)
        #expect(try home.kith("note", "save", "Trip", "again.jpg", "--output", home.path("copy")).status == 0)
    }

    @Test func `bytes that are not here are asked for, and the note says that they are on their way`() throws {
        try home.kith("note", "add", "Trip")
        let file = try home.write("photo.jpg", Data("content".utf8))
        try home.kith("note", "attach", "Trip", file)
        try FileManager.default.removeItem(atPath: home.store.path + "-kith-files")
        #expect(try home.kith("note", "show", "Trip").output.contains("7 B  on its way, 0 %  photo.jpg"))
        expectFailure(try home.kith("note", "save", "Trip", "photo.jpg", "--output", home.path("copy")), 75, "on its way", "kith up")
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.store.path + "-kith-files/asked").count == 1)
    }
}
