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

@Suite("Somebody who is not let in asks for the page, or somebody who is sends what no page would", .timeLimit(.minutes(2)))
struct PageSecurityTests {
    @Test("without a token or a cookie there is nothing, not even a version, whatever is asked for")
    func strangers() async throws {
        let (_, browser) = try await RunningNode.web(try KithHome())
        let stranger = browser.stranger
        let note = try browser.add("Shopping")
        for path in [
            "/", "/note/\(note)", "/app.js", "/style.css", "/icon.svg", "/events", "/api/note/\(note)", "/part/list", "/nothing",
            "/?token=", "/?token=0",
            "//", "/%2e%2e/", "*",
        ] {
            let answer = try stranger.get(path)
            #expect([400, 401].contains(answer.status), "\(path): \(answer.status)")
            let said = (answer.head + answer.body).lowercased()
            #expect(!said.contains("kith") && !said.contains("server:") && !said.contains("shopping"), "\(path): \(said)")
        }
        #expect(try stranger.post("/api/note", "{\"title\":\"Theirs\"}").status == 401)
        for end in ["99999999999", "-9223372036854775808", "9223372036854775807", "x", ""] {
            #expect(try stranger.get("/", "Cookie: kith-\(browser.port)=0.\(end).00").status == 401, "\(end)")
        }
        #expect(try browser.get("/").status == 200)
    }

    @Test("an address lets in one browser; then kith web prints another, and a browser that is known needs none")
    func tokens() async throws {
        let home = try KithHome()
        let (node, browser) = try await RunningNode.web(home)
        let used = try #require(URL(string: node.output.trimmingCharacters(in: .whitespacesAndNewlines))?.query)
        #expect(try browser.stranger.get("/?" + used).status == 401)
        let second = try home.kith("web")
        #expect(second.status == 0 && second.lastLine != node.output.trimmingCharacters(in: .whitespacesAndNewlines))
        let other = try RawBrowser(entrance: second.lastLine)
        #expect(try other.get("/").status == 200 && browser.get("/").status == 200)
        // Whoever follows an old address again is not thrown out.
        #expect(try browser.get("/?token=0").status == 303)
        #expect(try home.kith("web", "--sign-out").status == 0)
        #expect(try other.get("/").status == 401 && browser.get("/").status == 401)
        #expect(try RawBrowser(entrance: home.kith("web").lastLine).get("/").status == 200)
    }

    @Test("the address that lets in is for nobody else to read")
    func modes() async throws {
        let home = try KithHome()
        let (_, browser) = try await RunningNode.web(home)
        let files = try home.shell("find keys/web -type f -printf '%m %f\\n' | sort; find keys/web -type d -printf '%m\\n'")
        #expect(files.output == "600 key\n600 page.json\n700\n700\n", "\(files.output)")
        #expect(try browser.get("/").status == 200)
    }

    @Test(
        "another name of this machine is refused: a site whose name leads here cannot read the page",
        arguments: [
            "evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:PORT", "localhost.evil.example:PORT",
            "[::2]:PORT", "",
            "127.0.0.1:PORT@evil.example",
        ])
    func hosts(_ host: String) async throws {
        let (_, browser) = try await RunningNode.web(try KithHome())
        let name = host.replacing("PORT", with: String(browser.port))
        #expect([400, 421].contains(try browser.get("/", "Host: \(name)").status))
        #expect(try browser.get("/", "Host: LOCALHOST:\(browser.port)").status == 200)
    }

    @Test("another site changes nothing, whatever it sends along")
    func origins() async throws {
        let (_, browser) = try await RunningNode.web(try KithHome())
        let note = "{\"title\":\"Theirs\"}"
        for origin in [
            "http://evil.example", "null", "http://127.0.0.1", "http://127.0.0.1:1",
            "\(browser.scheme == "http" ? "https" : "http")://127.0.0.1:\(browser.port)",
            "http://127.0.0.1:\(browser.port).evil.example",
        ] {
            #expect(try browser.post("/api/note", note, origin: origin).status == 403, "\(origin)")
        }
        // A form of another site cannot send JSON, and a request without an origin is no page's.
        let bare = browser.head("POST", "/api/note", ["Content-Type: application/json", "Content-Length: \(note.utf8.count)"]) + note
        #expect(try browser.answer(to: bare).status == 403)
        for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
            #expect(try browser.post("/api/note", note, type: type).status == 415, "\(type)")
        }
        for site in ["cross-site", "same-site"] {
            #expect(try browser.get("/part/list", "Sec-Fetch-Site: \(site)").status == 403)
            #expect(try browser.post("/api/note", note, "Sec-Fetch-Site: \(site)").status == 403)
        }
        for method in ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
            #expect(try browser.answer(to: browser.head(method, "/", [])).status == 405, "\(method)")
        }
        let head = try browser.answer(to: browser.head("HEAD", "/", []))
        #expect(head.status == 200 && head.body.isEmpty, "\(head)")
        #expect(try !browser.get("/part/list").body.contains("Theirs"))
    }

    @Test("every answer forbids scripts from elsewhere, frames, guesses of types, and copies in between")
    func headers() async throws {
        let (_, browser) = try await RunningNode.web(try KithHome())
        for path in ["/", "/app.js", "/nothing", "/part/list", "/api/note/0"] {
            let answer = try browser.get(path)
            let policy = answer.header("content-security-policy") ?? ""
            for part in [
                "default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "form-action 'none'",
                "base-uri 'none'",
            ] {
                #expect(policy.contains(part), "\(path): \(policy)")
            }
            #expect(!policy.contains("unsafe") && !policy.contains("http"), "\(policy)")
            #expect(answer.header("x-content-type-options") == "nosniff" && answer.header("referrer-policy") == "no-referrer")
            #expect(["no-store", "no-cache"].contains(answer.header("cache-control") ?? ""), "\(path)")
            #expect(answer.header("access-control-allow-origin") == nil && answer.header("server") == nil)
        }
        let page = try browser.get("/").body
        #expect(!page.contains("<script>") && !page.contains("style=") && !page.contains("://"))
        #expect(page.matches(of: /<[^>]* on[a-z]+=/).isEmpty, "\(page)")
    }

    @Test("scripts in a title, a text or a tag are text, with and without marks on their quotation marks")
    func scripts() async throws {
        let home = try KithHome()
        let (_, browser) = try await RunningNode.web(home)
        let hostile = "</textarea></title><script>alert(1)</script>\"\u{301} onfocus=\"\u{301}alert(2)<img src=x onerror=alert(3)>"
        let body =
            hostile
            + "\n\n[a](javascript:alert(4)) [b](vbscript:x) [c](data:text/html,x) <a href='javascript:x'>d</a>\n\n![e](javascript:x)\n"
        let id = try browser.add(hostile, body)
        let tag = "\"\u{301}><script>x</script>"
        let tagged = try browser.post("/api/note/\(id)/fields", "{\"addTags\":[\"\\\"\u{301}><script>x</script>\"]}")
        #expect(tagged.status == 200, "\(tagged.body)")
        #expect(try home.kith("note", "show", id).output.contains(tag))
        for path in ["/", "/note/\(id)", "/part/list", "/part/list?q=script", "/part/rendered/\(id)"] {
            let page = try browser.get(path).body
            let scripts = page.ranges(of: "<script").count
            #expect(scripts == (path.hasPrefix("/part") ? 0 : 1), "\(path): \(page)")
            for attack in ["<img src=x", "href=\"javascript:", "src=\"javascript:"] { #expect(!page.contains(attack), "\(path)") }
            #expect(!page.contains("data:text") || !page.contains("href=\"data:text"), "\(path)")
            // A quotation mark with an accent on it ends no attribute: looked for by its bytes.
            #expect(page.utf8.split(separator: UInt8(ascii: ">")).allSatisfy { !String(decoding: $0, as: UTF8.self).hasSuffix("alert(2)") })
            #expect(Data(page.utf8).range(of: Data("\"\u{301}".utf8)) == nil, "\(path)")
        }
    }

    @Test("what is too large, too deep or no JSON is refused, and the page goes on")
    func sizes() async throws {
        let (_, browser) = try await RunningNode.web(try KithHome())
        let id = try browser.add("Note")
        let own = ["Origin: \(browser.origin)", "Content-Type: application/json"]
        let large = browser.head("POST", "/api/note", own + ["Content-Length: 99999999999"])
        #expect(try browser.answer(to: large).status == 413)
        let chunked = browser.head("POST", "/api/note", own + ["Transfer-Encoding: chunked"])
        let piece = String(repeating: "x", count: 1 << 20)
        // The connection may end before all of it is sent, and the answer with it.
        let pieces = String(repeating: "100000\r\n\(piece)\r\n", count: 13) + "0\r\n\r\n"
        #expect([0, 413].contains(try browser.answer(to: chunked + pieces).status))
        for size in ["zz", "-1", "5\r\nabc\r\n0"] {
            #expect(try browser.answer(to: chunked + "\(size)\r\n{}\r\n0\r\n\r\n").status == 400, "\(size)")
        }
        let text = String(repeating: "y", count: 4 << 20 + 1)
        #expect(try browser.post("/api/note", "{\"title\":\"Long\",\"body\":\"\(text)\"}").status == 422)
        for json in ["", "{", "[]", "null", "{\"title\":7}", String(repeating: "[", count: 100_000), "{\"title\":\"\\ud800\"}"] {
            #expect(try browser.post("/api/note", json).status == 400, "\(json.prefix(20))")
        }
        for (base, status) in [("", 400), ("x", 400), ("-", 404), ("00000000000000000000000000000000.1", 404)] {
            let answer = try browser.post("/api/note/\(id)/body", "{\"text\":\"a\",\"base\":\"\(base)\"}")
            #expect([status, 200].contains(answer.status), "\(base): \(answer.body)")
        }
        let header = "X-Long: " + String(repeating: "z", count: 100_000)
        #expect([0, 400, 413, 431].contains(try browser.get("/", header).status))
        #expect([0, 400, 404, 414, 431].contains(try browser.get("/" + String(repeating: "p", count: 200_000)).status))
        #expect([0, 400].contains(try browser.answer(to: "\u{16}\u{3}\u{1} no HTTP at all\r\n\r\n").status))
        #expect(try browser.get("/").status == 200)
    }

    @Test("a thousand at once are all answered, and so is whoever comes after them")
    func crowd() async throws {
        let (_, browser) = try await RunningNode.web(try KithHome())
        try browser.add("Shopping")
        let statuses = Shared<[Int]>([])
        let threads = (0..<50).map { _ in
            Thread {
                for _ in 0..<20 {
                    let status = (try? browser.get("/part/list").status) ?? -1
                    statuses.append(status)
                }
            }
        }
        for thread in threads { thread.start() }
        while statuses.count < 1_000 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(statuses.all.allSatisfy { $0 == 200 })
        #expect(try browser.get("/").status == 200)
    }

    @Test("a thousand connections at once that all ask are all answered; a hundred pages that were open and are gone leave no trace")
    func connections() async throws {
        #if canImport(Glibc)
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let files = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        getrlimit(files, &limit)
        limit.rlim_cur = min(limit.rlim_max, 4_096)
        setrlimit(files, &limit)
        let (_, browser) = try await RunningNode.web(try KithHome())
        try browser.add("Shopping")
        let open = try (0..<1_000).map { _ in try browser.connect() }
        for descriptor in open { RawBrowser.send(browser.head("GET", "/part/list", []), to: descriptor) }
        var statuses: [Int: Int] = [:]
        for descriptor in open {
            statuses[try RawBrowser.answer(from: descriptor).status, default: 0] += 1
            close(descriptor)
        }
        #expect(statuses == [200: 1_000])
        for _ in 0..<100 {
            let listener = try browser.connect()
            RawBrowser.send(browser.head("GET", "/events", []), to: listener)
            var byte: UInt8 = 0
            #expect(recv(listener, &byte, 1, 0) == 1)
            close(listener)
        }
        let last = try browser.connect()
        defer { close(last) }
        RawBrowser.send(browser.head("GET", "/events", []), to: last)
        var buffer = [UInt8](repeating: 0, count: 12)
        #expect(recv(last, &buffer, buffer.count, Int32(MSG_WAITALL)) == 12)
        #expect(String(decoding: buffer, as: UTF8.self) == "HTTP/1.1 200")
    }
}

/// Numbers that several threads collect.
private final class Shared<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var values: Value

    init(_ values: Value) { self.values = values }

    var all: Value { lock.withLock { values } }
}

extension Shared where Value == [Int] {
    fileprivate var count: Int { all.count }
    fileprivate func append(_ value: Int) { lock.withLock { values.append(value) } }
}
