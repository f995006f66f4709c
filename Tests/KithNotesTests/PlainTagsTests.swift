import Foundation
import Testing

@testable import KithNotes

@Suite("Tags are read as something else than the JSON decoder reads")
struct PlainTagsTests {
    @Test(
        arguments: [
            "[]", "[\"\"]", "[\"a\"]", "[\"a\",\"b\"]", "[\"\",\"\"]", "[\"a,b\",\"[\"]", "[\"a\", \"b\"]", "[\"a\"\"b\"]", "[\"a\",]",
            "[,\"a\"]",
            "[\"a\",\"b]", "[\"]", "[\"", "\"a\"", "[\"a\"],[\"b\"]", "[\"a\\\"b\"]", "[\"\\u0041\"]", "[\"é\"]", "[\"a\n\"]", "[1,\"a\"]",
            "[\"a\",1]", "[a]", "", "[", "]", "{\"a\":\"b\"}", "[[\"a\"]]", "[\"a\",[\"b\"]]", "\"", "[\"a\"]\"b\"",
        ])
    func `what is told without the decoder is what it says`(json: String) {
        guard let elements = NoteTags.plainElements(of: json) else { return }
        #expect((try? JSONDecoder().decode([String].self, from: Data(json.utf8))) == elements)
    }

    @Test(arguments: ["[]", "[\"a\"]", "[\"home\",\"to-do\",\"2026\"]"])
    func `the tags that people have are told without the decoder`(json: String) {
        #expect(NoteTags.plainElements(of: json) != nil)
    }

    @Test func `a note of as many tags as the protocol allows is read, each tag once and in the order of its bytes`() {
        let many = Array((0..<100_000).map { "tag\($0)" }.reversed())
        let tags = NoteTags(json: "[" + (many + many).map { "\"\($0)\"" }.joined(separator: ",") + "]")
        #expect(Array(tags) == many.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        #expect(tags.contains("tag99999") && !tags.contains("tag"))
        // One letter in two encodings is two tags.
        var accents: NoteTags = ["\u{E9}", "e\u{301}", "\u{E9}", "a"]
        #expect(accents.count == 3)
        accents.remove("\u{E9}")
        accents.insert("b")
        #expect(Array(accents) == ["a", "b", "e\u{301}"] && accents.contains("e\u{301}") && !accents.contains("\u{E9}"))
    }

    @Test func `a list without bodies has all else`() throws {
        let store = try NotesStore.inMemory()
        try store.add(title: "Shopping", body: "Bread", tags: ["home"])
        var query = NoteQuery(searching: "bread")
        query.readsBodies = false
        let note = try #require(try store.list(query).first)
        #expect(note.title == "Shopping" && note.tags == ["home"] && note.body.isEmpty)
    }
}
