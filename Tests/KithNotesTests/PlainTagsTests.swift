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

    @Test func `a list without bodies has all else`() throws {
        let store = try NotesStore.inMemory()
        try store.add(title: "Shopping", body: "Bread", tags: ["home"])
        var query = NoteQuery(searching: "bread")
        query.readsBodies = false
        let note = try #require(try store.list(query).first)
        #expect(note.title == "Shopping" && note.tags == ["home"] && note.body.isEmpty)
    }
}
