import Foundation
import KithTrust
import Synchronization
import TestSupport
import Testing

@testable import Kith

/// Risk: what an app writes in ten lines does not pair two devices, or goes on when the app has stopped it.
@Suite(.timeLimit(.minutes(2))) struct AppPairingTests {
    private let folder: TemporaryFolder
    private let attic: SyncedApp
    private let desk: SyncedApp

    init() throws {
        folder = try TemporaryFolder()
        attic = try Self.open("attic", in: folder)
        desk = try Self.open("desk", in: folder)
    }

    private static func open(_ name: String, in folder: TemporaryFolder) throws -> SyncedApp {
        try Pantry.open(in: folder.url.appending(path: name)) { options in
            options.isInProcess = false
            options.usesDiscovery = false
            options.port = 0
            options.deviceName = name
        }
    }

    /// Where a device waits, and the last step of what it did.
    private func wait(
        _ app: SyncedApp, _ method: PairingConfiguration.Method = .numbers, isSame: Bool = true
    ) async throws -> (PeerAddress, Task<PairingStep?, Never>) {
        let (ports, opened) = AsyncStream.makeStream(of: Int.self)
        let task = Task { () -> PairingStep? in
            var last: PairingStep?
            for await step in app.pair(method, change: { $0.port = 0 }) {
                if case .waiting(let port?, _) = step { opened.yield(port) }
                if case .compare(let question) = step { await question.answer(isSame: isSame) }
                last = step
            }
            opened.finish()
            return last
        }
        let port = try #require(await ports.first { _ in true })
        return (try PeerAddress(host: "127.0.0.1", port: port), task)
    }

    @Test func `two people who compare digits pair their apps, which synchronise from then on`() async throws {
        attic.start()
        try attic.add("Milk")
        let (address, waiting) = try await wait(attic)
        var digits: String?
        var last: PairingStep?
        for await step in desk.pair(at: address, change: { $0.port = 0 }) {
            if case .compare(let question) = step {
                digits = question.digits
                await question.answer(isSame: true)
            }
            last = step
        }
        #expect(digits?.count == 7)
        guard case .paired(let device)? = last, case .paired(let other)? = await waiting.value else {
            Issue.record("\(String(describing: last))")
            return
        }
        #expect(device.name == "attic" && other.name == "desk")
        desk.start()
        try await desk.until { try desk.titles() == ["Milk"] }
        try await desk.until { desk.household.standing == .member && desk.household.devices.last?.isInSync == true }
        let household = desk.household
        #expect(household.standing == .member && household.id == attic.household.id)
        #expect(household.devices.map(\.name) == ["desk", "attic"])
        #expect(household.devices.map(\.isThisDevice) == [true, false])
        #expect(household.devices.last?.lastSync != nil)

        try desk.rename(attic.trust.ownID, to: "Attic")
        try await attic.until { attic.household.devices.first?.name == "Attic" }
        try desk.remove(attic.trust.ownID)
        #expect(desk.household.devices.count == 1)
        // It is not told: it gets no byte from now on.
        try await attic.until { attic.household.devices.allSatisfy { !$0.isConnected } }
        try await attic.close()
        try await desk.close()
    }

    @Test func `a no ends it with a sentence`() async throws {
        let (address, waiting) = try await wait(attic)
        var last: PairingStep?
        for await step in desk.pair(at: address, change: { $0.port = 0 }) {
            if case .compare(let question) = step { await question.answer(isSame: false) }
            last = step
        }
        guard case .failed(.refused(let failure))? = last else {
            Issue.record("\(String(describing: last))")
            return
        }
        #expect(failure.code == .refused && !failure.isFromPeer)
        waiting.cancel()
        _ = await waiting.value
        #expect(attic.household.standing == .alone && desk.household.devices.count == 1)
    }

    @Test func `a token pairs without a question`() async throws {
        var random = SystemRandomNumberGenerator()
        let token = PairingToken.random(using: &random)
        let (address, waiting) = try await wait(attic, .showToken(token))
        var steps: [PairingStep] = []
        for await step in desk.pair(.enterToken(token), at: address) { steps.append(step) }
        guard case .paired? = steps.last, case .paired? = await waiting.value else {
            Issue.record("\(steps)")
            return
        }
    }

    @Test func `who stops to read stops to pair`() async throws {
        for await step in attic.pair(change: { $0.port = 0 }) {
            guard case .waiting(let port?, nil) = step else { continue }
            #expect(port > 0)
            break
        }
        // The window is closed: another one opens at once, and so does one whose port was asked for.
        let (address, waiting) = try await wait(attic)
        var last: PairingStep?
        for await step in desk.pair(change: { $0.port = address.port }) { last = step }
        guard case .failed(.cannotBegin(let error))? = last else {
            Issue.record("\(String(describing: last))")
            return
        }
        #expect(error.code == .portUnavailable)
        waiting.cancel()
        _ = await waiting.value
    }
}
