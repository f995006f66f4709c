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

@Suite("Connections say nothing, or say it slowly, and keep others out", .timeLimit(.minutes(1)))
struct SlowBrowserTests {
    @Test("connections that say nothing, and some that say it slowly, are let go; whoever waited for a place is served")
    func slow() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "notes.sqlite")
        var configuration = PageConfiguration(identity: folder.url.appending(path: "keys"), notesFile: file, software: "1")
        configuration.port = 0
        configuration.limits.idleSeconds = 1
        configuration.limits.bodyMilliseconds = 500
        configuration.limits.connectionsMax = 100
        let page = NotesPage(try NotesStore.open(file), configuration)
        let (ready, continuation) = AsyncStream.makeStream(of: RunningPage.self)
        let server = Task { try await page.run { continuation.yield($0) } }
        defer { server.cancel() }
        var iterator = ready.makeAsyncIterator()
        let entrance = try #require(await iterator.next()?.entrance)
        let browser = try RawBrowser(entrance: entrance.absoluteString)
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
        server.cancel()
        _ = await server.result
        #expect(RunningPage.current(in: configuration.folder) == nil)
    }
}
