import Foundation
import Testing

@testable import KithWeb

@Suite("A browser comes in with a token that is used, guessed, or with a cookie that is old or of another key")
struct DoorkeeperTests {
    private let folder: URL
    private let token = Shared("")
    private let now = Shared<Int64>(1_000_000)

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "kith-door-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func doorkeeper() throws -> Doorkeeper {
        try Doorkeeper(folder: folder, nowSeconds: { [now] in now.value }, publish: { [token] in token.value = $0 })
    }

    @Test("a token lets in once, and the next one is another")
    func once() throws {
        let door = try doorkeeper()
        let first = token.value
        #expect(try door.admit(token: String(repeating: "0", count: first.count)) == nil && token.value == first)
        let cookie = try #require(try door.admit(token: first))
        #expect(door.check(cookie: cookie).isGood && !door.check(cookie: cookie).isOld)
        #expect(try door.admit(token: first) == nil)
        #expect(token.value != first)
        #expect(try door.admit(token: token.value) != nil)
        try FileManager.default.removeItem(at: folder)
    }

    @Test("a cookie outlives a restart, and ends with its time, with its key, and with any change of it")
    func cookies() throws {
        let cookie = try #require(try doorkeeper().admit(token: token.value))
        let door = try doorkeeper()
        #expect(door.check(cookie: cookie).isGood)
        for place in cookie.indices where cookie[place] != "." {
            var other = cookie
            other.replaceSubrange(place...place, with: cookie[place] == "1" ? "2" : "1")
            #expect(!door.check(cookie: other).isGood)
        }
        for other in ["", ".", "..", "a.b.c", cookie + "0", String(cookie.dropLast())] { #expect(!door.check(cookie: other).isGood) }
        for end in [Int64.min, .max, -1, 0] { #expect(!door.check(cookie: "0.\(end).00").isGood) }
        now.value += Doorkeeper.cookieSeconds / 2 + 1
        #expect(door.check(cookie: cookie) == (true, true))
        now.value += Doorkeeper.cookieSeconds / 2
        #expect(!door.check(cookie: cookie).isGood)
        now.value = 1_000_000
        try Doorkeeper.signOutAll(in: folder)
        #expect(!door.check(cookie: cookie).isGood)
        try FileManager.default.removeItem(at: folder)
    }

    @Test("the key is nobody else's to read")
    func mode() throws {
        _ = try doorkeeper().admit(token: token.value)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: "key").path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try FileManager.default.removeItem(at: folder)
    }
}
