import Foundation
import HTTPTypes
import Kith
import KithNotes
import KithReport
import Synchronization

/// Pairs this machine with another one from the page: one window at a time, which every open page shows.
final class PairingDesk: Sendable {
    /// What a page shows of it.
    struct View: Encodable, Hashable, Sendable {
        /// Counts what was shown in this run: answers and events overtake each other, and a page keeps to what has the highest number.
        fileprivate(set) var number = 0
        /// `closed`, `open`, `compare`, `waiting` or `ended`.
        var phase = "closed"
        var sentence = ""
        var digits: String?
        var token: String?
        /// The token as a QR code: its dark squares as the path of a picture, and how many are in a row.
        var path: String?
        var size: Int?
    }

    private struct State {
        private(set) var view = View()
        var pairing: Pairing?
        var code: PairingCode?
        /// Where this machine waits, for a person to type at the other one.
        var place = ""
        var task: Task<Void, Never>?
        var isOpening = false

        mutating func show(_ view: View) {
            let number = self.view.number + 1
            self.view = view
            self.view.number = number
        }
    }

    private let identity: URL
    private let notesFile: URL
    private let usesDiscovery: Bool
    private let state = Mutex(State())
    /// Called with what is to be shown.
    private let tell: @Sendable (View) -> Void

    init(_ configuration: PageConfiguration, tell: @escaping @Sendable (View) -> Void) {
        identity = configuration.identity
        notesFile = configuration.notesFile
        usesDiscovery = configuration.usesDiscovery
        self.tell = tell
    }

    var view: View { state.withLock(\.view) }

    /// Opens a window.
    ///
    /// - Parameter address: where the other machine waits, if it is not found by itself.
    /// - Throws: ``ErrorAnswer`` if one is open, or the key or the address cannot be used.
    func open(showsToken: Bool, address: String?) throws {
        let isFree = state.withLock { state in
            if state.task != nil || state.isOpening { return false }
            state.isOpening = true
            return true
        }
        guard isFree else { throw ErrorAnswer(.conflict, "busy", "This machine is pairing already.") }
        defer { state.withLock { $0.isOpening = false } }
        let key = try DeviceKey.loadOrCreate(in: identity)
        let trust = try TrustStore(in: identity, ownID: key.id)
        var random = SystemRandomNumberGenerator()
        let token = showsToken ? PairingToken.random(using: &random) : nil
        let place: PeerAddress?
        do {
            place = try address.map { try PeerAddress(typed: $0) }
        } catch {
            throw ErrorAnswer(.unprocessableContent, "valueRejected", "\(error)")
        }
        let name = String(ProcessInfo.processInfo.hostName.prefix { $0 != "." })
        var configuration = PairingConfiguration(token.map { .showToken($0) } ?? .numbers, app: NotesStore.app, name: name, address: place)
        configuration.usesDiscovery = usesDiscovery
        configuration.takePort(of: StatusFile(forStore: notesFile).read())
        let pairing = try Pairing(key: key, trust: trust, configuration: configuration)
        // Begun under the lock: one that ends at once ends after it was noted, and shows what it says after this.
        change { state in
            state.place = ""
            state.pairing = pairing
            state.task = Task { await self.follow(pairing, token: token?.text) }
            state.show(View(phase: "open", sentence: "This machine begins …"))
        }
    }

    /// A person has compared `digits`. If others are to be compared by now, that says nothing about those.
    func answer(isSame: Bool, to digits: String) async {
        let sentence = isSame ? "Waiting for the answer at the other machine." : "Not the same: not paired."
        let asked: (Pairing, PairingCode)? = change { state in
            guard let pairing = state.pairing, let code = state.code, code.description == digits else { return nil }
            state.code = nil
            state.show(View(phase: "waiting", sentence: sentence))
            return (pairing, code)
        }
        guard let (pairing, code) = asked else { return }
        await pairing.answer(isSame: isSame, to: code)
    }

    func close() { state.withLock(\.task)?.cancel() }

    private func follow(_ pairing: Pairing, token: String?) async {
        async let outcome = pairing.run()
        for await event in pairing.events { change { Self.show(event, token: token, in: &$0) } }
        let end: String
        do {
            end = Self.sentence(try await outcome)
        } catch {
            end = "Not paired: \(error)"
        }
        change { state in
            (state.pairing, state.code, state.task) = (nil, nil, nil)
            state.show(View(phase: "ended", sentence: end))
        }
    }

    private static func show(_ event: PairingEvent, token: String?, in state: inout State) {
        switch event {
        case .open(let port):
            state.place =
                port.map { " If the two do not find each other, give the other one this machine's address and the port \($0)." } ?? ""
            guard let token else {
                let sentence = "Begin on the other machine, too, within two minutes: there with “Pair”, or kith pair."
                return state.show(View(phase: "open", sentence: sentence + state.place))
            }
            let code = QRCode(Array(token.utf8))
            let sentence =
                "On the other machine, within ten minutes: kith pair, and this. Whoever has it first is trusted; it works once."
            state.show(
                View(phase: "open", sentence: sentence + state.place, token: token, path: code.map(Self.path), size: code?.size))
        case .noDiscovery(let reason), .notReachable(let reason):
            // A machine that answers nevertheless is not interrupted. All the more is the place needed otherwise.
            guard state.view.phase == "open" else { return }
            var view = state.view
            view.sentence = reason + state.place
            state.show(view)
        case .compare(let code):
            state.code = code
            state.show(View(phase: "compare", sentence: "Does the other machine show the same number?", digits: code.description))
        case .failed(let failure, _, _):
            guard failure.code != .busy else { return }
            state.code = nil
            // The token that is shown is still good.
            var view = state.view
            (view.phase, view.sentence, view.digits) = ("open", failure.inCommands, nil)
            state.show(view)
        }
    }

    /// Changes what is known, and tells what is to be shown then.
    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, view) = state.withLock { state in
            let result = body(&state)
            return (result, state.view)
        }
        tell(view)
        return result
    }

    private static func sentence(_ outcome: PairingOutcome) -> String {
        switch outcome {
        case .paired(let device):
            "Paired with \(device.name.isEmpty ? device.id.shortDescription : device.name). The notes are kept in step while kith up runs on both."
        case .trustedAlone(_, let failure):
            "This machine trusts the other one now; whether that is mutual is not known: \(failure.inCommands) Pair again on both."
        case .failed(let failure): "Not paired. \(failure.inCommands)"
        case .tooManyFailures(let failures): "Not paired: \(failures) attempts failed. Find out why before you try again."
        case .windowOver: "Not paired: the time is over."
        case .cancelled: "Not paired: it was stopped."
        }
    }

    private static func path(of code: QRCode) -> String {
        var path = ""
        for row in 0..<code.size {
            for column in 0..<code.size where code.isDark(row: row, column: column) { path += "M\(column) \(row)h1v1h-1z" }
        }
        return path
    }
}
