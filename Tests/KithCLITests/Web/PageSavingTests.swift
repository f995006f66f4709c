import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

@Suite("The page saves a note while others write, after a restart, or one that is gone", .timeLimit(.minutes(2)))
struct PageSavingTests {
    private struct Saved: Decodable {
        let text: String
        let title: String
        let version: String
        let tags: [String]
    }

    private func read(_ id: String, _ browser: RawBrowser) throws -> Saved {
        try JSONDecoder().decode(Saved.self, from: Data(browser.get("/api/note/\(id)").body.utf8))
    }

    private func save(_ text: String, _ id: String, base: String, _ browser: RawBrowser) throws -> (Int, Saved?) {
        let change = try JSONEncoder().encode(["text": text, "base": base])
        let answer = try browser.post("/api/note/\(id)/body", String(decoding: change, as: UTF8.self))
        return (answer.status, try? JSONDecoder().decode(Saved.self, from: Data(answer.body.utf8)))
    }

    @Test("what two pages and the command line write from one version is all there, and a save is an edit and no overwrite")
    func merges() async throws {
        let home = try KithHome()
        let (_, browser) = try await RunningNode.web(home)
        let id = try browser.add("List", "bread\nmilk\n")
        let begun = try read(id, browser)
        #expect(try save("bread\nmilk\neggs\n", id, base: begun.version, browser).0 == 200)
        try home.kith("note", "edit", id, "--body", "tea\n", "--base", begun.version)
        let (status, last) = try save("bread rolls\nmilk\n", id, base: begun.version, browser)
        let merged = try #require(last)
        #expect(status == 200)
        for word in ["rolls", "eggs", "tea"] { #expect(merged.text.contains(word), "\(merged.text)") }
        #expect(!merged.text.contains("milk"))
        #expect(try home.kith("note", "show", id, "--body-only").output == merged.text)
        // A save that is sent again, because its answer was lost, writes nothing twice.
        let again = try #require(try save(merged.text, id, base: merged.version, browser).1)
        #expect(again.text == merged.text && again.version == merged.version)
    }

    @Test("a title that others changed is not overwritten, tags of several come together, and a note that is gone says so")
    func fields() async throws {
        let home = try KithHome()
        let (_, browser) = try await RunningNode.web(home)
        let id = try browser.add("List", "bread")
        try home.kith("note", "edit", id, "--title", "Theirs", "--add-tag", "home")
        let mine = try browser.post("/api/note/\(id)/fields", "{\"title\":{\"value\":\"Mine\",\"base\":\"List\"}}")
        #expect(mine.status == 409 && mine.body.contains("changedMeanwhile") && mine.body.contains("Theirs"))
        #expect(try browser.post("/api/note/\(id)/fields", "{\"addTags\":[\"food\"],\"color\":\"red\",\"isPinned\":true}").status == 200)
        let note = try read(id, browser)
        #expect(note.title == "Theirs" && note.tags == ["food", "home"])
        #expect(try browser.post("/api/note/\(id)/fields", "{\"addTags\":[\"two words\"]}").status == 422)
        // What was chosen here is a step of `undo`; a title that was saved while it was typed is none.
        #expect(try browser.post("/api/note/\(id)/fields", "{\"title\":{\"value\":\"Mine\",\"base\":\"Theirs\"}}").status == 200)
        #expect(try home.kith("note", "undo").output == "Took back: Pin \u{201C}Theirs\u{201D}.\n")
        #expect(try read(id, browser).title == "Mine")
        let unknown = UUID().uuidString
        let deleted = try browser.post("/api/notes/delete", "{\"ids\":[\"\(id)\",\"\(unknown)\",\"\(id)\"]}")
        #expect(deleted.status == 200 && deleted.body == "{\"deleted\":1}", "\(deleted.body)")
        #expect(try browser.post("/api/notes/delete", "{\"ids\":[\"\(id)\"]}").body == "{\"deleted\":0}")
        #expect(try save("new", id, base: note.version, browser).0 == 404)
        #expect(try browser.get("/note/\(id)").status == 404)
        for (path, words) in [("/note/\(id)", "This note was deleted."), ("/nowhere", "There is nothing here.")] {
            let page = try browser.get(path, "Accept: text/html,*/*;q=0.8")
            #expect(page.status == 404 && page.body.contains("<h1>\(words)</h1>") && page.body.contains("<html"), "\(page.body)")
            #expect(try browser.get(path, "Accept: text/html", "X-Part: main").body.hasPrefix("{"))
        }
        #expect(try home.kith("trash", "list").output.contains("Mine"))
    }

    @Test("pinned notes come first, and a page of a long list is a part of it")
    func lists() async throws {
        let home = try KithHome()
        let (_, browser) = try await RunningNode.web(home)
        var ids: [String] = []
        for number in 1...9 { ids.append(try browser.add("Note \(number)", "text \(number)")) }
        #expect(try browser.post("/api/note/\(ids[3])/fields", "{\"isPinned\":true}").status == 200)
        let first = try browser.get("/part/list?from=0&count=3")
        #expect(first.header("x-total") == "9")
        #expect(first.body.matches(of: />Note (\d)/).map(\.1) == ["4", "9", "8"])
        let next = try browser.get("/part/list?from=7&count=5").body
        #expect(next.matches(of: />Note (\d)/).map(\.1) == ["2", "1"])
        #expect(try browser.get("/part/list?q=text%205").body.matches(of: />Note (\d)/).map(\.1) == ["5"])
        // As a browser sends the words of its field.
        #expect(try browser.get("/part/list?q=5+text").body.matches(of: />Note (\d)/).map(\.1) == ["5"])
        #expect(try browser.get("/part/list?from=-5&count=-5").status == 200)
    }

    @Test("a change elsewhere is told to a page that is open; a restart keeps the browser known, and says that it is another run")
    func events() async throws {
        let home = try KithHome()
        let (node, browser) = try await RunningNode.web(home)
        let id = try browser.add("List", "bread")
        let listener = try browser.connect()
        defer { close(listener) }
        RawBrowser.send(browser.head("GET", "/events", []), to: listener)
        var heard = ""
        var buffer = [UInt8](repeating: 0, count: 4_096)
        func hear(_ event: String) {
            while !heard.contains("event: \(event)"), case let count = recv(listener, &buffer, buffer.count, 0), count > 0 {
                heard += String(decoding: buffer[..<count], as: UTF8.self)
            }
        }
        // From then on it is listened to.
        hear("hello")
        try home.kith("note", "edit", id, "--body", "milk")
        hear("changes")
        #expect(heard.contains("event: hello") && heard.contains("event: status") && heard.contains(id), "\(heard)")
        #expect(try await node.stop(SIGTERM) == 0)
        let second = try RunningNode(home, command: "web", "--port", String(browser.port))
        try await second.wait { $0.contains("token=") }
        #expect(try read(id, browser).text == "milk")
        #expect(try home.kith("web", "--port", "1").output.contains("token="))
        #expect(try await second.stop(SIGINT) == 0)
    }

    @Test("kith up serves the page and says where, kith web finds it, and --no-web leaves it out")
    func up() async throws {
        let home = try KithHome()
        let node = try RunningNode(home, "--no-discovery")
        try await node.wait { $0.contains("The notes in a browser: http://127.0.0.1:") && $0.contains("Local only") }
        let browser = try RawBrowser(entrance: home.kith("web").lastLine)
        try browser.add("From the page")
        #expect(try home.kith("note", "list").output.contains("From the page"))
        #expect(try await node.stop(SIGTERM) == 0)
        let bare = try RunningNode(home, "--no-discovery", "--no-web")
        try await bare.wait { $0.contains("Local only") }
        #expect(!bare.output.contains("browser"))
        // Another program may have the port by now, and does not know this browser.
        #expect((try? browser.get("/").status) != 200)
        #expect(try await bare.stop(SIGTERM) == 0)
    }
}
