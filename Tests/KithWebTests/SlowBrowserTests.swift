import Foundation
import KithNotes
import TestSupport
import Testing

@testable import KithWeb

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

@Suite("Connections say nothing, or say it slowly, and keep others out", .serialized, .timeLimit(.minutes(1)))
struct SlowBrowserTests {
    /// A page with these limits; its folder, the server, and a browser that was let in.
    private func page(_ folder: TemporaryFolder, _ limits: (inout RequestLimits) -> Void) async throws
        -> (place: URL, server: Task<Void, any Error>, browser: RawBrowser)
    {
        let file = folder.url.appending(path: "notes.sqlite")
        var configuration = PageConfiguration(identity: folder.url.appending(path: "keys"), notesFile: file, software: "1")
        configuration.port = 0
        limits(&configuration.limits)
        // What a process left that ended while a file came.
        try FileManager.default.createDirectory(at: configuration.folder, withIntermediateDirectories: true)
        let left = configuration.folder.appending(path: "upload-left")
        try Data(count: 10).write(to: left)
        let page = NotesPage(try NotesStore.open(file), configuration)
        let (ready, continuation) = AsyncStream.makeStream(of: RunningPage.self)
        let server = Task { try await page.run { continuation.yield($0) } }
        var iterator = ready.makeAsyncIterator()
        let entrance = try #require(await iterator.next()?.entrance)
        let browser = try await DiskWork.run { try RawBrowser(entrance: entrance.absoluteString) }
        #expect(!FileManager.default.fileExists(atPath: left.path))
        return (configuration.folder, server, browser)
    }

    @Test("who connects while the page ends does not end the process")
    func connectedAtTheEnd() async throws {
        let folder = try TemporaryFolder()
        for round in 0..<12 {
            let (_, server, browser) = try await page(folder) { _ in }
            let early = try (0..<8).map { _ in try browser.connect() }
            if round.isMultiple(of: 2) { try await Task.sleep(for: .milliseconds(round)) }
            server.cancel()
            let late = (0..<8).compactMap { _ in try? browser.connect() }
            _ = await server.result
            for descriptor in early + late { close(descriptor) }
        }
    }

    @Test("a file that stands still on its way is let go, and nothing of it stays; one that comes slowly is taken")
    func stalled() async throws {
        let folder = try TemporaryFolder()
        let (place, server, browser) = try await page(folder) {
            $0.stillMilliseconds = 5_000
            $0.lingerMilliseconds = 200
        }
        defer { server.cancel() }
        let id = try await DiskWork.run { try browser.add("Files") }
        func begin(_ name: String) throws -> Int32 {
            let fields = ["Origin: \(browser.origin)", "Content-Type: application/octet-stream", "Content-Length: 12000"]
            let descriptor = try browser.connect()
            RawBrowser.send(browser.head("POST", "/api/note/\(id)/attach?name=\(name)", fields), to: descriptor)
            return descriptor
        }
        let piece = String(repeating: "x", count: 1_000)
        let (still, slow) = (try begin("still"), try begin("slow"))
        defer { for descriptor in [still, slow] { close(descriptor) } }
        RawBrowser.send(piece, to: still)
        // Longer than one may stand still.
        for _ in 0..<12 {
            RawBrowser.send(piece, to: slow)
            try await Task.sleep(for: .milliseconds(500))
        }
        let answers = try await DiskWork.run { try [still, slow].map { try RawBrowser.answer(from: $0) } }
        #expect(answers.map(\.status) == [408, 200], "\(answers)")
        let left = try FileManager.default.contentsOfDirectory(atPath: place.path).filter { $0.hasPrefix("upload-") }
        #expect(left.isEmpty)
        let rendered = try await DiskWork.run { try browser.get("/part/rendered/\(id)").body }
        #expect(rendered.contains("slow") && !rendered.contains("still"))
    }

    @Test("connections that say nothing, and some that say it slowly, are let go; whoever waited for a place is served")
    func slow() async throws {
        let folder = try TemporaryFolder()
        let (place, server, browser) = try await page(folder) {
            $0.idleSeconds = 1
            $0.bodyMilliseconds = 3_000
            $0.connectionsMax = 100
            $0.unreadMilliseconds = 500
            $0.lingerMilliseconds = 200
        }
        defer { server.cancel() }
        let silent = try (0..<300).map { _ in try browser.connect() }
        defer { for descriptor in silent { close(descriptor) } }
        for (number, descriptor) in silent.enumerated() where number.isMultiple(of: 2) { RawBrowser.send("GET / HT", to: descriptor) }
        // All places are taken by connections that say nothing: whoever asks now gets one when they are let go.
        let answer = try await DiskWork.run { try browser.get("/") }
        #expect(answer.status == 200)
        let slow = try browser.connect()
        defer { close(slow) }
        let fields = ["Origin: \(browser.origin)", "Content-Type: application/json", "Content-Length: 500"]
        let head = browser.head("POST", "/api/note", fields)
        RawBrowser.send(head + "{\"title\":\"Slow", to: slow)
        let end = try await DiskWork.run { try RawBrowser.answer(from: slow) }
        #expect([0, 408].contains(end.status), "\(end.head)")
        #expect(try await DiskWork.run { try !browser.get("/part/list").body.contains("Slow") })
        try await DiskWork.run { try Self.goOnSending(browser.port) }
        try await DiskWork.run { try Self.leaveUnread(browser) }
        #expect(try await DiskWork.run { try browser.get("/").status == 200 })
        server.cancel()
        _ = await server.result
        #expect(RunningPage.current(in: place) == nil)
    }

    #if os(Linux)
    @Test("one machine of the network keeps no other from having a place")
    func manyOfOne() async throws {
        let folder = try TemporaryFolder()
        let (_, server, browser) = try await page(folder) {
            $0.connectionsMax = 60
            $0.connectionsOfAddressMax = 10
        }
        defer { server.cancel() }
        let silent = try (0..<100).map { _ in try browser.connect(from: 2) }
        defer { for descriptor in silent { close(descriptor) } }
        func isEnded(_ descriptor: Int32) -> Bool {
            var byte: UInt8 = 0
            return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) == 0
        }
        while silent.count(where: isEnded) < 90 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(silent.count(where: isEnded) == 90)
        #expect(try await DiskWork.run { try browser.get("/").status == 200 })
        for descriptor in silent { shutdown(descriptor, Int32(SHUT_RDWR)) }
        let head = browser.head("GET", "/", [])
        var status = 0
        while status != 200 {
            let later = try browser.connect(from: 2)
            defer { close(later) }
            if RawBrowser.send(head, to: later) { status = try await DiskWork.run { (try? RawBrowser.answer(from: later).status) ?? 0 } }
        }
    }
    #endif

    /// Somebody who is not let in sends without an end: the connection ends.
    private static func goOnSending(_ port: Int) throws {
        signal(SIGPIPE, SIG_IGN)
        let stranger = try RawBrowser(port: port).connect()
        defer { close(stranger) }
        let head = "POST /api/note HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: 99999999999\r\n\r\n"
        let piece = String(repeating: "x", count: 1 << 16)
        #expect(RawBrowser.send(head, to: stranger))
        while RawBrowser.send(piece, to: stranger) { usleep(20_000) }
    }

    /// A browser asks for much, and reads nothing: the connection ends.
    private static func leaveUnread(_ browser: RawBrowser) throws {
        let id = try browser.add("Long", String(repeating: "x", count: 4 << 20))
        let silent = try browser.connect()
        defer { close(silent) }
        let count = 30
        let question = browser.head("GET", "/api/note/\(id)", []).replacing("Connection: close\r\n", with: "")
        RawBrowser.send(String(repeating: question, count: count), to: silent)
        // Until the page sends no more, because this test reads nothing.
        var (waiting, before): (Int32, Int32) = (0, -1)
        while waiting != before {
            before = waiting
            usleep(3_000_000)
            _ = ioctl(silent, UInt(FIONREAD), &waiting)
        }
        #expect(try RawBrowser.answer(from: silent).body.utf8.count < count * 4 << 20)
    }
}
