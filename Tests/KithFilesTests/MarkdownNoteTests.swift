import Foundation
import KithNotes
import TestSupport
import Testing

@testable import KithFiles

@Suite("A Markdown file does not say what the note says")
struct MarkdownNoteTests {
    private static let id = UUID(uuid: (1, 0x90, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1))

    private func note(title: String = "Title", _ body: String, tags: NoteTags = ["home", "work/plans"]) -> WholeNote {
        WholeNote(
            Note(
                id: Self.id, title: title, body: body, color: .yellow, tags: tags, createdMilliseconds: 1_767_225_600_123,
                updatedMilliseconds: 1_767_225_661_000))
    }

    @Test("the front matter reads well")
    func looks() throws {
        let bytes = MarkdownNote(
            note(title: "a: b", "Text\n"), stem: "a- b", attachments: [.init(path: "attachments/x (2).png", name: "x.png")]
        ).bytes()
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                ---
                id: 01900000-0000-7000-8000-000000000001
                title: "a: b"
                tags: [home, work/plans]
                color: yellow
                created: 2026-01-01T00:00:00.123Z
                updated: 2026-01-01T00:01:01.000Z
                attachments:
                  - "[[attachments/x (2).png|x.png]]"
                ---
                Text

                """)
    }

    @Test(
        "every body comes back byte for byte",
        arguments: [
            "", "\n", "x", "x\n", "x\r\ny\r\n", "\r\n", "\u{FEFF}with a mark\r\n", "\u{FEFF}", "---", "---\n", "---\n---\n",
            "---\n---\n---\n",
            "---\nHello\n---\n", "---\naliases: [a, b]\ncssclass: wide\n---\nBody\n", "---\r\nkey: value\r\n---\r\nBody",
            "---\nkey:\n  - a\n...\nBody",
            "---\nid: 5\n---\n", "---\ntitle: mine\nother: x\n---\n", "---\n# only a comment\n---\nx", "---\nkey: [broken\n---\nx",
            "\u{FEFF}---\na: b\n---\n",
            "e\u{301} \u{E9}", "---\nkey: value\n---", "--- \na: b\n---  \nx", "---\na: b\n", "\t---\na: b\n---\n",
            "---\n\na: b\n---\n\n\nx", "---\ntags: {a: b}\n---\n", "---\nid: 202301011200\naliases: [x]\n---\nx",
            "---\nupdated: yesterday\nkith-id: x\n---\n", "---\nkith-id: x\nid: y\n---\n", "---\n# a\n\n# b\n---\nx",
            "---\n# a\n# b\n---\nx", "---\n\n---\nx", "---\na: b\n\n# c\n---\n", "---\n# c\na: b\n# d\n---\n", "---\n# c\n- d\n---\n",
            "---\ntags: #foo\n---\nx", "---\na: &x 1\nb: *x\n---\n", "---\nb: *x\n---\n", "---\na: |\n  # text\n---\n",
        ])
    func bodies(body: String) throws {
        for tags in [[], ["home"]] as [NoteTags] {
            let written = MarkdownNote(note(body, tags: tags), stem: "Title", attachments: [])
            let bytes = written.bytes()
            let read = try MarkdownNote(bytes)
            #expect(read.body.utf8.elementsEqual(body.utf8), "\(String(decoding: bytes, as: UTF8.self))")
            #expect(read == written)
            #expect(read.bytes() == bytes)
        }
    }

    @Test("bodies made at random come back, too")
    func random() throws {
        var random = SplitMix64(seed: 7)
        let parts = [
            "---\n", "---\r\n", "a: b\n", "id: x\n", "tags: [q]\r\n", "- x\n", "\n", "  y\n", "...\n", "\u{FEFF}", "text", "# c\n", ": \n",
            "\"k\": v\n", "updated: y\n", "kith-id: z\n", "  # d\n", "tags: #x\n",
        ]
        for _ in 0..<3_000 {
            let body = (0..<Int.random(in: 0...7, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
            let written = MarkdownNote(note(body), stem: "Title", attachments: [])
            #expect(try MarkdownNote(written.bytes()).body.utf8.elementsEqual(body.utf8), "\(body.debugDescription)")
        }
    }

    @Test("any title and any tag come back, whatever they mean in YAML")
    func values() throws {
        let titles = [
            "true", "2026", "- x", "a: b", "#x", "\"q\" 'q' \\", "日本", "👩‍👧", "null", "x\u{85}y", "a  b", "{a}", "*a", "&a",
            "!t", "%d", "e\u{301}",
        ]
        for title in titles {
            let written = MarkdownNote(note(title: title, "", tags: ["#x", "no", "1e3", "a:b", "[x]", "日本"]), stem: "", attachments: [])
            let read = try MarkdownNote(written.bytes())
            #expect(read.title.map { Array($0.utf8) } == Array(title.utf8))
            #expect(read.tags == written.tags)
        }
    }

    @Test("front matter of others is understood as far as it goes, and the rest stays in the text")
    func others() throws {
        let read = try MarkdownNote(
            Array("---\ntags:\n  - a\n  - b\naliases: [x]\ncreated: 2026-11-23T10:00:00+02:00\ncolor: '#ff0000'\n---\nBody".utf8))
        #expect(read.tags == ["a", "b"])
        #expect(read.createdMilliseconds == TimeText.milliseconds("2026-11-23T08:00:00Z"))
        #expect(read.body == "---\naliases: [x]\ncolor: '#ff0000'\n---\nBody")
        #expect(try MarkdownNote(Array("---\ntags: one, two words\n---\n".utf8)).tags == ["one", "two words"])
        #expect(try MarkdownNote(Array("---\ntags: one two\n---\n".utf8)).tags == ["one", "two"])
        #expect(try MarkdownNote(Array("---\ntags:\n---\n".utf8)).tags == [])
        let pinned = Array("---\npinned: true\n---\nBody".utf8)
        #expect(try MarkdownNote(pinned).isPinned == true && MarkdownNote(pinned).body == "Body")
        // The files of a folder that is kept in step say nothing of pins.
        let bare = try MarkdownNote(pinned, readsPins: false)
        #expect(bare.isPinned == nil && bare.body.utf8.elementsEqual(pinned))
        let other = try MarkdownNote(Array("---\npinned: maybe\n---\nBody".utf8))
        #expect(other.isPinned == false && other.body.contains("maybe"))
        let broken = try MarkdownNote(Array("---\ntags: [a\n---\nBody".utf8))
        #expect(broken.hasBrokenFrontMatter && broken.body == "---\ntags: [a\n---\nBody")
    }

    @Test("comments and empty lines of others stay, where they do not stand within one of the note's own entries")
    func comments() throws {
        let id = Self.id.uuidString.lowercased()
        let read = try MarkdownNote(
            Array("---\n# top\nid: \(id)\n# remark\ntags:\n  # inner\n\n  - a\n  # after\n\naliases: [x]\n# end\n---\nBody".utf8))
        #expect(read.id == Self.id && read.tags == ["a"])
        #expect(read.body == "---\n# top\n# remark\n  # after\n\naliases: [x]\n# end\n---\nBody")
        let only = try MarkdownNote(Array("---\nid: \(id)\n\n# remark\n---\nBody".utf8))
        #expect(only.id == Self.id && only.body == "---\n# remark\n---\nBody")
        // A text may begin with a rule and a heading, too: that does not become a comment.
        #expect(String(decoding: only.bytes(), as: UTF8.self) == "---\nid: \(id)\n---\n---\n# remark\n---\nBody")
        #expect(try MarkdownNote(only.bytes()) == only)
        #expect(try MarkdownNote(Array("---\n\nid: \(id)\n\n---\nBody".utf8)).body == "Body")
        let text = try MarkdownNote(Array("---\ntitle: |\n  # one\ncolor: red\n---\n".utf8))
        #expect(text.title == "# one\n" && text.body.isEmpty)
    }

    @Test("tags that YAML takes for a comment stay in the text", arguments: ["#foo #bar", "foo #bar", "\n  - #foo\n  - bar", "#foo # bar"])
    func hashes(tags: String) throws {
        let read = try MarkdownNote(Array("---\ntags: \(tags)\ncolor: red\n---\nBody".utf8))
        #expect(read.tags.isEmpty && read.color == .red && read.body == "---\ntags: \(tags)\n---\nBody")
        let written = MarkdownNote(note(read.body), stem: "Title", attachments: [])
        #expect(try MarkdownNote(written.bytes()) == written)
        #expect(try MarkdownNote(Array("---\ntags: ['#foo', a#b]\n---\n".utf8)).tags == ["#foo", "a#b"])
        #expect(try MarkdownNote(Array("---\ntags: home # where I live\n---\n".utf8)).tags == ["home"])
    }

    @Test("what another entry means is not taken out of its block")
    func anchors() throws {
        let bytes = Array("---\ntitle: &t foo\nother: *t\n---\nBody".utf8)
        let read = try MarkdownNote(bytes)
        #expect(read.hasBrokenFrontMatter && read.title == nil && read.body.utf8.elementsEqual(bytes))
        let alone = try MarkdownNote(Array("---\ntitle: &t foo\nother: x\n---\nBody".utf8))
        #expect(!alone.hasBrokenFrontMatter && alone.title == "foo")
    }

    @Test("entries of other programs that are called as the note's own keep the names, and one block holds all")
    func sameNames() throws {
        let body = "---\nid: 202301011200\nupdated: yesterday\ntags: {x: y}\naliases: [x]\n---\nBody"
        let written = MarkdownNote(note(body), stem: "Title", attachments: [])
        let text = String(decoding: written.bytes(), as: UTF8.self)
        #expect(text.hasPrefix("---\nkith-id: \(Self.id.uuidString.lowercased())\nkith-tags: [home, work/plans]\ncolor: yellow\ncreated: "))
        #expect(text.contains("\nkith-updated: 2026-01-01T00:01:01.000Z\nid: 202301011200\nupdated: yesterday\n"))
        #expect(text.hasSuffix("aliases: [x]\n---\nBody") && text.split(separator: "\n").count { $0 == "---" } == 2)
        #expect(try MarkdownNote(written.bytes()) == written)
    }

    @Test(
        "what is no text is refused in clear words",
        arguments: [
            ([0xFF, 0xFE, 0x41, 0x00], "UTF-16"), ([0x41, 0x00], "NUL"), ([0xC3, 0x28], "not text in UTF-8"),
            ([0xED, 0xA0, 0x80], "not text in UTF-8"),
        ] as [([UInt8], String)])
    func noText(bytes: [UInt8], words: String) {
        #expect { try MarkdownNote(bytes) } throws: { ($0 as? FilesError)?.message.contains(words) == true }
    }

    @Test("times come back, and those that others write are read")
    func times() throws {
        for time: Int64 in [0, -1, 1_767_225_600_123, -62_167_219_200_000, 253_402_300_799_999, 951_782_400_000] {
            #expect(TimeText.text(time).flatMap { TimeText.milliseconds($0) } == time)
        }
        #expect(TimeText.text(.max) == nil && TimeText.text(.min) == nil)
        let utc = try #require(TimeZone(secondsFromGMT: 0))
        let berlin = try #require(TimeZone(secondsFromGMT: 3_600))
        #expect(TimeText.milliseconds("2021-04-13 13:06:44Z") == 1_618_319_204_000)
        #expect(TimeText.milliseconds("20210413T130644Z") == 1_618_319_204_000)
        #expect(TimeText.milliseconds("2021-04-13", zone: utc) == 1_618_272_000_000)
        #expect(TimeText.milliseconds("2021-04-13T13:06", zone: berlin) == 1_618_315_560_000)
        #expect(TimeText.milliseconds("2020-02-29", zone: utc) != nil && TimeText.milliseconds("2021-12-31", zone: utc) != nil)
        for text in [
            "", "yesterday", "2021", "2021-13-01", "2021-02-29", "2020-02-30", "2021-11-31", "2021-04-00", "2021-04-13T25:00",
            "2021-04-13 13:06:44 Q",
        ] {
            #expect(TimeText.milliseconds(text, zone: utc) == nil, "\(text)")
        }
    }
}
