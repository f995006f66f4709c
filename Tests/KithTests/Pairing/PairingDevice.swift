import Foundation
import Kith
import Testing

/// A device with its key and list, and a person who answers as told; in a folder that goes with it.
final class PairingDevice {
    let folder: URL
    let key: DeviceKey
    let trust: TrustStore

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "kith-pairing-\(UUID().uuidString.prefix(8))")
        key = try DeviceKey.loadOrCreate(in: folder)
        trust = try TrustStore(in: folder, ownID: key.id)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// What happened in one window.
    struct Record: Sendable {
        var outcome: PairingOutcome
        var codes: [PairingCode] = []
        var failures: [PairingFailure] = []
    }

    /// A window on the loopback, without mDNS; open for longer than any test takes, if it does not say for how long.
    func open(
        _ method: PairingConfiguration.Method = .numbers, dialling port: Int? = nil, name: String = "device", app: AppID = "test",
        milliseconds: Int64 = 240_000
    ) throws -> Pairing {
        var configuration = PairingConfiguration(
            method, app: app, name: name, address: try port.map { try PeerAddress(host: "127.0.0.1", port: $0) })
        configuration.port = 0
        configuration.usesDiscovery = false
        configuration.windowMilliseconds = milliseconds
        return try Pairing(key: key, trust: trust, configuration: configuration)
    }
}

/// Lets a window run while a person gives the same answer to whatever is shown; nobody answers with `nil`.
/// - Parameters:
///   - endsWithFailure: whether the first attempt that fails is the last.
///   - opened: is told the port.
func run(
    _ pairing: Pairing, answering answer: Bool?, endsWithFailure: Bool = false, opened: @escaping @Sendable (Int) -> Void = { _ in }
) async throws -> PairingDevice.Record {
    let outcome = Task { try await pairing.run() }
    var codes: [PairingCode] = []
    var failures: [PairingFailure] = []
    for await event in pairing.events {
        switch event {
        case .open(let port): if let port { opened(port) }
        case .compare(let code):
            codes.append(code)
            if let answer { await pairing.answer(isSame: answer, to: code) }
        case .failed(let failure, _, _):
            failures.append(failure)
            if endsWithFailure { outcome.cancel() }
        case .noDiscovery, .notReachable: break
        }
    }
    return PairingDevice.Record(outcome: try await outcome.value, codes: codes, failures: failures)
}

/// Opens a window that waits, and returns its port and what will have happened in it.
func wait(
    _ pairing: Pairing, answering answer: Bool?, endsWithFailure: Bool = false
) async throws -> (port: Int, record: Task<PairingDevice.Record, any Error>) {
    let (ports, opened) = AsyncStream.makeStream(of: Int.self)
    let record = Task {
        defer { opened.finish() }
        return try await run(pairing, answering: answer, endsWithFailure: endsWithFailure) { opened.yield($0) }
    }
    guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
    return (port, record)
}
