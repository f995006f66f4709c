import Foundation
import KithTrust
import TestSupport
import Testing

@Suite("Choices, trash, history, links and files of the page show or do the wrong thing", .timeLimit(.minutes(2)))
struct PageSheetTests {
    private func fields(_ answer: RawBrowser.Answer) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any], "\(answer.head) \(answer.body)")
    }

    @Test("a choice is made once, and not between versions that are no longer these")
    func choices() async throws {
        let home = try KithHome()
        let id = try home.kith("note", "add", "Shopping").lastLine
        try home.shell("mkdir other; cp -r store other")
        try home.kith("note", "edit", id, "--title", "Mine <b>")
        try home.kith("note", "edit", id, "--title", "Theirs", environment: ["KITH_HOME": home.path("other")])
        try exchange(home)
        let (_, browser) = try await RunningNode.web(home)
        let page = try browser.get("/conflicts").body
        #expect(page.contains("Mine &lt;b&gt;") && page.contains("Theirs"), "\(page)")
        #expect(try browser.get("/").body.contains("<span class=\"count\">1</span>"))
        // Where the devices are, the page says it too, and leads to its own place.
        let devices = try browser.get("/devices").body
        #expect(
            devices.contains("at the same time. <a href=\"/conflicts\">Choose</a>") && !devices.contains("kith conflicts"), "\(devices)")
        #expect(try home.kith("status").output.contains("Choose: `kith conflicts list`."))
        let mark = try #require(page.firstMatch(of: /data-mark="([0-9a-f]+)"/)?.1)
        func choose(_ mark: some StringProtocol, _ index: Int) throws -> Int {
            try browser.post("/api/conflict", "{\"note\":\"\(id)\",\"mark\":\"\(mark)\",\"index\":\(index)}").status
        }
        #expect(try choose("00", 0) == 409)
        #expect(try choose(mark, 7) == 404)
        #expect(try choose(mark, 1) == 200)
        #expect(try choose(mark, 0) == 409)
        #expect(try home.kith("conflicts", "list").output.isEmpty)
        #expect(try browser.get("/conflicts").body.contains("nothing to choose"))
    }

    @Test("several notes are changed at once, or none of them")
    func several() async throws {
        let home = try KithHome()
        let ids = try ["One", "Two"].map { try home.kith("note", "add", $0).lastLine }
        let (_, browser) = try await RunningNode.web(home)
        func change(_ ids: [String], _ fields: String) throws -> Int {
            let list = ids.map { "\"\($0)\"" }.joined(separator: ",")
            return try browser.post("/api/notes/change", "{\"ids\":[\(list)],\(fields)}").status
        }
        #expect(try change(ids, "\"addTags\":[\"both\"],\"color\":\"red\"") == 200)
        func titles(_ arguments: String...) throws -> Int {
            (try home.kith("note", "search", arguments.joined(separator: " "), "--json").json() as? [Any])?.count ?? 0
        }
        #expect(try titles("tag:both", "color:red") == 2)
        // The tag alone would do; the color is none, so neither is taken.
        #expect(try change(ids, "\"addTags\":[\"more\"],\"color\":\"sky\"") != 200)
        #expect(try titles("tag:more") == 0)
        // A note that is gone is left out; so many ids are the limit.
        let gone = UUID().uuidString.lowercased()
        #expect(try change([gone] + ids.prefix(1), "\"removeTags\":[\"both\"]") == 200)
        #expect(try titles("tag:both") == 1)
        #expect(try change(Array(repeating: gone, count: 10_000), "\"isPinned\":true") == 200)
        #expect(try browser.post("/api/notes/change", "{\"ids\":[\"\(gone)\",\"\(ids[0])\"],\"isPinned\":true}").body == #"{"changed":1}"#)
        let tooMany = "{\"ids\":[\(Array(repeating: "\"\(gone)\"", count: 10_001).joined(separator: ","))]}"
        #expect(try browser.post("/api/notes/delete", tooMany).status == 400)
        #expect(try browser.post("/api/trash/restore", tooMany).status == 400)
        #expect(try change(Array(repeating: gone, count: 10_001), "\"isPinned\":true") == 400)
    }

    @Test("notes are moved in the order by hand, several at once, to where there is a place, and nowhere else")
    func order() async throws {
        let home = try KithHome()
        let ids = try ["One", "Two", "Three"].map { try home.kith("note", "add", $0).lastLine }
        let (_, browser) = try await RunningNode.web(home)
        func list(_ query: String = "order=hand") throws -> [String] {
            try browser.get("/part/list?\(query)").body.matches(of: /<li data-id="([^"]+)"/).map { id in
                ["One", "Two", "Three"][ids.firstIndex(of: String(id.1)) ?? 0]
            }
        }
        func move(_ ids: [String], _ place: String) throws -> RawBrowser.Answer {
            let list = ids.map { "\"\($0)\"" }.joined(separator: ",")
            return try browser.post("/api/notes/move", "{\"ids\":[\(list)]\(place.isEmpty ? "" : ",")\(place)}")
        }
        #expect(try list() == ["Three", "Two", "One"])
        let answer = try fields(move([ids[0]], "\"step\":\"up\""))
        #expect(answer["moved"] as? Int == 1 && answer["place"] as? Int == 1 && answer["total"] as? Int == 3, "\(answer)")
        #expect(try list() == ["Three", "One", "Two"])
        #expect(try move([ids[1], ids[2]], "\"after\":\"\(ids[0])\"").status == 200)
        #expect(try list() == ["One", "Three", "Two"])
        #expect(try move([ids[1]], "\"before\":\"\(ids[0])\"").status == 200)
        #expect(try move([ids[1]], "\"end\":\"last\"").status == 200)
        #expect(try list() == ["One", "Three", "Two"])
        // The other orders are as they were, and so is what is found.
        #expect(try list("order=updated") == ["Three", "Two", "One"] && list("order=hand&q=t").sorted() == ["Three", "Two"])
        #expect(try list("order=hand&from=1&count=1") == ["Three"] && list("order=sky") == ["Three", "Two", "One"])
        for (chosen, place, status) in [
            ([ids[0]], "", 400), ([ids[0]], "\"step\":\"sideways\"", 400), ([ids[0]], "\"step\":\"up\",\"end\":\"last\"", 400),
            ([ids[0]], "\"before\":\"\(UUID())\"", 404), ([UUID().uuidString], "\"step\":\"up\"", 404), ([], "\"end\":\"first\"", 404),
            (["x"], "\"end\":\"first\"", 400), (Array(repeating: ids[0], count: 10_001), "\"end\":\"last\"", 400),
        ] {
            #expect(try move(chosen, place).status == status, "\(place)")
        }
        #expect(
            try browser.post("/api/notes/move", "{\"ids\":[\"\(ids[0])\"],\"end\":\"last\"}", origin: "http://evil.example").status == 403)
        #expect(try list() == ["One", "Three", "Two"])
        #expect(try browser.post("/api/note/\(ids[1])/fields", "{\"isPinned\":true}").status == 200)
        #expect(try move([ids[0], ids[1]], "\"end\":\"first\"").status == 422)
        // The choice comes with the next page; other words for it are none.
        func first(_ cookie: String) throws -> String? {
            let page = try browser.get("/", "Cookie: \(browser.cookie ?? ""); kith-order=\(cookie)").body
            #expect(page.contains("<option value=\"hand\" selected>") == (cookie == "hand"))
            return page.matches(of: /<li data-id="([^"]+)"/).dropFirst().first.map { String($0.1) }
        }
        #expect(try first("hand") == ids[0] && first("updated") == ids[2] && first("<script>") == ids[2])
    }

    /// Two stores of one home meet: `store` and its copy in `other`, each with a key of its own.
    private func exchange(_ home: KithHome) throws {
        let result = try home.shell(
            """
            other="env KITH_HOME=$HOME/other $KITH"
            one=$($KITH device id) two=$($other device id)
            $KITH device add "$two" --name copy >/dev/null
            $KITH up --port 0 --no-discovery --no-web --json >log 2>&1 & node=$!
            for i in $(seq 1000); do port=$($KITH status --json | sed -nE 's/.*"port" ?: ?([0-9]+).*/\\1/p' | head -n 1); [ -z "$port" ] || break; sleep 0.05; done
            $other device add "$one" --name desk --address 127.0.0.1:$port >/dev/null
            $other up --port 0 --no-discovery --no-web >other.log 2>&1 & peer=$!
            for i in $(seq 1000); do [ -z "$($KITH conflicts list)" ] || break; sleep 0.05; done
            kill $node $peer; wait $node $peer
            """)
        #expect(try !home.kith("conflicts", "list").output.isEmpty, "\(result.output) \(result.error)")
    }

    @Test("the trash restores and is emptied; a history gives every version")
    func trashAndHistory() async throws {
        let home = try KithHome()
        let (_, browser) = try await RunningNode.web(home)
        let id = try browser.add("Old <i>", "one")
        try home.kith("note", "edit", id, "--body", "one two")
        let history = try browser.get("/note/\(id)/history").body
        let versions = history.matches(of: /data-version="([^"]+)"/).map { String($0.1) }
        #expect(versions.count == 2)
        let texts = try versions.map { try fields(browser.get("/api/note/\(id)/at?version=\($0)"))["text"] as? String }
        #expect(texts == ["one", "one two"])
        #expect(try browser.get("/api/note/\(id)/at?version=x").status == 400)
        #expect(try browser.get("/api/note/\(id)/at?version=00000000000000000000000000000000.1").status == 404)
        try home.kith("note", "rm", id)
        #expect(try browser.get("/trash").body.contains("Old &lt;i&gt;"))
        #expect(try browser.post("/api/trash/restore", "{\"ids\":[\"\(id)\"]}").status == 200)
        #expect(try home.kith("note", "show", id, "--body-only").output == "one two")
        try home.kith("note", "rm", id)
        #expect(try fields(browser.post("/api/trash/empty", "{}"))["notes"] as? Int == 1)
        #expect(try browser.get("/trash").body.contains("The trash is empty"))
    }

    @Test("what another machine deleted at once comes back by one button, or stays deleted by another")
    func largeDeletion() async throws {
        let home = try KithHome()
        let device = try home.deleteElsewhere()
        let (_, browser) = try await RunningNode.web(home)
        func answer(_ device: String, isMeant: Bool) throws -> Int {
            try browser.post("/api/trash/large", "{\"device\":\"\(device)\",\"isMeant\":\(isMeant)}").status
        }
        let page = try browser.get("/trash").body
        #expect(page.contains("\(device.shortDescription) deleted 60 of 61 notes") && page.contains("data-device=\"\(device)\""), "\(page)")
        #expect(!page.contains("kith trash") && page.contains("kept until you have looked"))
        #expect(try answer("", isMeant: false) == 404 && answer("other", isMeant: true) == 404)
        #expect(try home.kith("note", "list").output.split(separator: "\n").count == 1)
        #expect(try answer(device.description, isMeant: false) == 200)
        #expect(try home.kith("note", "list").output.split(separator: "\n").count == 61)
        #expect(try browser.get("/trash").body.contains("The trash is empty"))
        #expect(try answer(device.description, isMeant: false) == 404)
    }

    @Test("a large deletion that was meant is no warning any more, and its notes leave the trash when they are due")
    func meantDeletion() async throws {
        let home = try KithHome()
        let device = try home.deleteElsewhere()
        let (_, browser) = try await RunningNode.web(home)
        #expect(try browser.post("/api/trash/large", "{\"device\":\"\(device)\",\"isMeant\":true}").status == 200)
        let page = try browser.get("/trash").body
        #expect(!page.contains("data-device") && !page.contains("kept until") && page.contains("class=\"restore\""), "\(page)")
        #expect(try home.kith("note", "list").output.split(separator: "\n").count == 1)
    }

    @Test("links lead to notes and to files, check lists say their lines, and two ticks of one box are one")
    func reading() async throws {
        let home = try KithHome()
        let (_, browser) = try await RunningNode.web(home)
        let target = try browser.add("A & \"B\"")
        let id = try browser.add(
            "List", "# Here\n\n- [xx] both\n- [  ] neither\n- [ ] open\n\n[[A & \"B\"]] [[New one]] [[A & \"B\"|words]]\n")
        let page = try browser.get("/part/rendered/\(id)").body
        #expect(
            page.contains("href=\"/note/\(target)\"") && page.contains(">words</a>") && page.contains("href=\"/new?title=New%20one\""),
            "\(page)")
        #expect(page.matches(of: /<li data-sourcepos="(\d+):/).map(\.1) == ["3", "4", "5"], "\(page)")
        #expect(page.matches(of: /checked=/).count == 1 && page.matches(of: /type="checkbox"/).count == 3)
        #expect(try browser.get("/part/rendered/\(target)").body.contains("href=\"/note/\(id)\""))
        #expect(try home.kith("note", "show", id, "--body-only").output.contains("[xx]"))
    }

    @Test("files are attached byte by byte; pictures are shown, everything else is a download and runs nothing")
    func files() async throws {
        let home = try KithHome()
        let (_, browser) = try await RunningNode.web(home)
        let id = try browser.add("Files", "![[dot.png]]")
        func attach(_ name: String, _ content: String, type: String = "application/octet-stream") throws -> RawBrowser.Answer {
            try browser.post("/api/note/\(id)/attach?name=\(name)", content, type: type)
        }
        let page = try fields(attach("evil%3Cb%3E.html", "<script>alert(1)</script>"))
        let file = try #require(page["id"] as? String)
        let answer = try browser.get("/file/\(file)")
        #expect(answer.status == 200 && answer.body == "<script>alert(1)</script>")
        #expect(answer.header("content-type") == "application/octet-stream")
        #expect(answer.header("content-disposition")?.hasPrefix("attachment; filename*=UTF-8''evil") == true)
        #expect(answer.header("content-security-policy") == "default-src 'none'; sandbox")
        try home.write("dot.png", Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0]))
        try home.kith("note", "attach", id, home.path("dot.png"))
        let rendered = try browser.get("/part/rendered/\(id)").body
        let picture = try #require(rendered.firstMatch(of: /<img src="(\/file\/[0-9a-f-]+)"/)?.1, "\(rendered)")
        #expect(try browser.get(String(picture)).header("content-type") == "image/png")
        #expect(rendered.contains("evil&lt;b&gt;.html"))
        // What a file is, its bytes say, and not its name.
        let files: [(name: String, bytes: Data, type: String?)] = [
            ("drawing.svg", Data("<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>".utf8), nil),
            ("page.png", Data("<!DOCTYPE html><script>alert(1)</script>".utf8), nil),
            ("short.jpg", Data([0xFF, 0xD8]), nil),
            ("sound.webp", Data("RIFF\0\0\0\0WAVEfmt ".utf8), nil),
            ("one.gif", Data("GIF89a\u{1}\0\u{1}\0\0\0\0".utf8), "image/gif"),
            ("two.jpeg", Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 0x10, 0x4A, 0x46, 0x49, 0x46, 0, 1]), "image/jpeg"),
            ("three.webp", Data("RIFF\0\0\0\0WEBPVP8 ".utf8), "image/webp"),
            ("four.txt", Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 1, 1, 1]), "image/png"),
        ]
        for (name, bytes, _) in files {
            try home.write(name, bytes)
            try home.kith("note", "attach", id, home.path(name))
        }
        let links = try browser.get("/part/rendered/\(id)").body.matches(of: /href="(\/file\/[0-9a-f-]+)"[^>]*>([^<]+)</)
        for (name, _, type) in files {
            let link = try #require(links.first { $0.2.contains(name) }, "\(name)").1
            let answer = try browser.get(String(link))
            #expect(answer.header("content-type") == type ?? "application/octet-stream", "\(name)")
            #expect((answer.header("content-disposition")?.hasPrefix("attachment;") == true) == (type == nil), "\(name)")
            #expect(answer.header("content-security-policy") == "default-src 'none'; sandbox", "\(name)")
            #expect(answer.header("x-content-type-options") == "nosniff", "\(name)")
        }
        #expect(try attach("x", "y", type: "text/plain").status == 415)
        #expect(try attach("", "y").status == 422)
        #expect(try attach(String(repeating: "n", count: 300), "y").status == 422)
        #expect(try RawBrowser(port: browser.port).get("/file/\(file)").status == 401)
        let large = browser.head(
            "POST", "/api/note/\(id)/attach?name=x",
            ["Origin: \(browser.origin)", "Content-Type: application/octet-stream", "Content-Length: 9999999999999"])
        #expect(try browser.answer(to: large).status == 413)
        #expect(try browser.post("/api/file/\(file)/detach", "{}").status == 200)
        #expect(try browser.get("/file/\(file)").status == 404)
        #expect(try home.shell("ls keys/web/*/ | grep -c upload").output == "0\n")
    }

    @Test("devices are shown in the words of kith status, but for the page's own places, and what is wrong in those of kith doctor")
    func status() async throws {
        let home = try KithHome()
        let (_, browser) = try await RunningNode.web(home)
        try browser.add("Note <b>")
        func expectSame(_ place: String, _ keys: [String] = ["sentence", "remedy"]) throws {
            let report = try #require(try home.kith("status", "--json").json() as? [String: Any])
            let page = try browser.get("/devices").body
            for key in keys {
                let words = try #require(report[key] as? String)
                #expect(page.contains(words), "\(place): \(words)")
            }
            if report["safety"] != nil, !page.contains("No other machine is trusted") {
                #expect(page.contains(try #require(report["safetySentence"] as? String)), "\(place)")
            }
        }
        // It pairs by itself, where a command line names the command.
        try expectSame("alone", ["sentence"])
        #expect(try home.kith("status").output.contains("`kith pair`"))
        let alone = try browser.get("/devices").body
        #expect(alone.contains("pair another machine below") && !alone.contains("kith pair"), "\(alone)")
        try home.kith("device", "add", KithHome().kith("device", "id").lastLine, "--name", "Attic <i>")
        try expectSame("not running")
        #expect(try browser.get("/devices").body.contains("Attic &lt;i&gt;"))
        try home.shell("mkdir folder gone && $KITH folder add gone && rm -r gone")
        #expect(try browser.get("/devices").body.contains("is not there, or not mounted."))
        #expect(try home.kith("status").output.contains("is not there, or not mounted."))
        let said = try JSONSerialization.jsonObject(with: Data(browser.post("/api/doctor", "{}").body.utf8)) as? [[String: String]]
        let findings = try #require(said)
        #expect(findings.contains { $0["sentence"] == "No note has several versions of a title or a color." && $0["word"] == "ok" })
        let doctor = try home.kith("doctor", "--no-discovery").output
        #expect(findings.filter { doctor.contains($0["sentence"] ?? "-") }.count >= findings.count / 2, "\(findings) \(doctor)")
        #expect(try browser.post("/api/doctor", "x").status == 400)
    }

    @Test("the note of the day is one note, here and where it was made apart")
    func today() async throws {
        let home = try KithHome()
        let (_, browser) = try await RunningNode.web(home)
        let id = try fields(browser.post("/api/day", "{\"day\":\"2026-11-24\"}"))["id"] as? String
        #expect(try fields(browser.post("/api/day", "{\"day\":\"2026-11-24\"}"))["id"] as? String == id)
        for day in ["today", "2026-99-99", "2026-2-3", ""] {
            #expect(try browser.post("/api/day", "{\"day\":\"\(day)\"}").status == 422)
        }
        #expect(try home.kith("today", "--add", "Bread").status == 0)
        #expect(try home.kith("today", "--add", "Milk").output.contains("note of today"))
        let day = try home.shell("date +%F").output.trimmingCharacters(in: .newlines)
        #expect(try home.kith("note", "show", day, "--body-only").output == "Bread\nMilk\n")
    }

    @Test("two pages pair with the digits that both show; only then is there another device")
    func pairing() async throws {
        let (homes, browsers) = try await twoPages()
        let first = try fields(browsers[0].post("/api/pair", "{}"))
        #expect(first["phase"] as? String == "open")
        #expect(try browsers[0].post("/api/pair", "{}").status == 409)
        var port: Int?
        while port == nil {
            let sentence = try fields(browsers[0].get("/api/pair"))["sentence"] as? String ?? ""
            port = sentence.firstMatch(of: /the port (\d+)/).flatMap { Int($0.1) }
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try browsers[1].post("/api/pair", "{\"address\":\"no address\"}").status == 422)
        #expect(try browsers[1].post("/api/pair", "{\"address\":\"127.0.0.1:\(try #require(port))\"}").status == 200)
        var digits: [String?] = [nil, nil]
        while digits.contains(nil) {
            digits = try browsers.map { try fields($0.get("/api/pair"))["digits"] as? String }
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(digits[0] == digits[1])
        // A yes to other digits says nothing about these.
        let shown = try #require(digits[0])
        let others = String(shown.map { $0.isNumber ? ($0 == "9" ? "0" : Character(String(Int(String($0))! + 1))) : $0 })
        #expect(try browsers[0].post("/api/pair/answer", "{\"isSame\":true}").status == 400)
        for browser in browsers {
            let view = try fields(browser.post("/api/pair/answer", "{\"isSame\":true,\"digits\":\"\(others)\"}"))
            #expect(view["phase"] as? String == "compare" && view["digits"] as? String == shown)
        }
        for browser in browsers {
            #expect(try browser.post("/api/pair/answer", "{\"isSame\":true,\"digits\":\"\(shown)\"}").status == 200)
        }
        for (browser, home) in zip(browsers, homes) {
            while try !browser.get("/devices").body.contains("<th scope=\"row\">") { try await Task.sleep(for: .milliseconds(20)) }
            #expect(try home.kith("device", "list", "--json").output.contains("\"name\""))
        }
    }

    @Test("a token for a machine without a screen is shown as text and as a picture, and ends when it is stopped")
    func token() async throws {
        let (_, browser) = try await RunningNode.web(try KithHome())
        _ = try browser.post("/api/pair", "{\"showsToken\":true}")
        var view: [String: Any] = [:]
        while view["token"] == nil {
            view = try fields(browser.get("/api/pair"))
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect((view["path"] as? String)?.hasPrefix("M0 0h1v1h-1z") == true && (view["size"] as? Int ?? 0) > 20)
        #expect(try browser.post("/api/pair/close", "{}").status == 200)
        while view["phase"] as? String != "ended" {
            view = try fields(browser.get("/api/pair"))
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try RawBrowser(port: browser.port).get("/api/pair").status == 401)
    }

    private func twoPages() async throws -> ([KithHome], [RawBrowser]) {
        let homes = [try KithHome(), try KithHome()]
        var browsers: [RawBrowser] = []
        for home in homes { browsers.append(try await RunningNode.web(home).browser) }
        return (homes, browsers)
    }
}
