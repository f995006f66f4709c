import Foundation
import Kith
import KithTrust
import Logging
import Synchronization
import Testing

/// The risk: what people write, or what they keep secret, stands in a log.
@Suite struct CanaryTests {
    /// Everything that is logged, with all its metadata.
    private final class Lines: Sendable {
        private let lines = Mutex("")

        var text: String { lines.withLock { $0 } }

        func append(_ line: String) { lines.withLock { $0 += line + "\n" } }
    }

    private struct Recorder: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.append("\(event.level) \(event.message) \(metadata) \(event.metadata ?? [:])")
        }
    }

    @Test func `no content and no secret is logged`() async throws {
        let lines = Lines()
        let (a, b) = (try TestNode(), try TestNode())
        for index in 0..<50 { try a.add("canary-\(index)-yellow") }
        let loud = { (node: TestNode) in
            var configuration = NodeConfiguration(app: "test")
            configuration.port = 0
            configuration.usesDiscovery = false
            let logger = Logger(label: "test", factory: { _ in Recorder(lines: lines) })
            return Node(store: node.store, key: node.key, trust: node.trust, configuration: configuration, logger: logger)
        }
        try a.trust.admit(
            TrustedDevice(id: b.key.id, name: "", added: Date(timeIntervalSince1970: 0)), founding: Household.founded(as: "a", by: a.key))
        let first = loud(a)
        let firstTask = Task { try await first.run() }
        try await a.until { first.status.port != nil }
        let household = try #require(a.trust.household)
        let address = try PeerAddress(host: "127.0.0.1", port: first.status.port ?? 0)
        try b.trust.join(household.id, through: TrustedDevice(id: a.key.id, addresses: [address], added: Date(timeIntervalSince1970: 0)))
        let second = loud(b)
        let secondTask = Task { try await second.run() }
        try await b.until { try b.titles().count == 50 && b.trust.standing == .member }
        try b.add("canary-50-yellow")
        try await a.until { try a.titles().count == 51 }
        // And what fails: one is revoked and dials in vain.
        try a.trust.remove(b.key.id)
        try await b.until { second.status.peers.first?.lastError != nil }
        for task in [firstTask, secondTask] {
            task.cancel()
            _ = await task.result
        }
        let log = lines.text
        #expect(!log.isEmpty)
        #expect(!log.contains("canary"))
        for secret in household.secrets + (a.trust.household?.secrets ?? []) {
            #expect(!log.contains(Data(secret.bytes).base64EncodedString()) && !log.contains("\(secret.bytes)"))
        }
        #expect(!log.contains("\(a.key.privateKeyDER)") && !log.contains("PRIVATE KEY"))
        #expect("\(household.secrets)".contains("HouseholdSecret(1)"))
    }
}
