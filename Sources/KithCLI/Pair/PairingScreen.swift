import Foundation
import Kith
import KithReport

/// Shows a pairing: sentences for people, or a line of JSON for each event.
struct PairingScreen: Sendable {
    let isJSON: Bool
    let method: PairingConfiguration.Method
    /// Whether a token is also shown as a QR code, where it can be.
    let showsQRCode: Bool

    /// A line of JSON.
    private struct Line: Encodable {
        var event: String
        var port: Int?
        var token: String?
        var code: String?
        var reason: String?
        var message: String?
        var failures: Int?
        var device: DeviceRecord?
        var isMutual: Bool?
    }

    func show(_ event: PairingEvent) {
        switch event {
        case .open(let port): open(port)
        case .noDiscovery(let reason): note("noDiscovery", reason)
        case .notReachable(let reason):
            // A window that is closed looks like a machine that is off.
            let isToken = if case .enterToken = method { true } else { false }
            note("notReachable", reason + (isToken ? " A token is good for ten minutes, once: does the other machine still show it?" : ""))
        case .compare(let code): compare(code)
        case .failed(let failure, let failures, let failuresMax):
            if isJSON { return write(Line(event: "failed", reason: "\(failure.code)", message: failure.inCommands, failures: failures)) }
            // Somebody else is pairing here; that passes.
            if failure.code == .busy { return }
            say(failure.inCommands + (failures > 0 ? " (\(failures) of \(failuresMax) attempts failed.)" : ""))
        }
    }

    /// Something for people alone.
    func say(_ text: String) {
        if !isJSON { try? Console.output.writeLine(PlainText.block(text)) }
    }

    /// A question for people alone.
    func ask(_ text: String) {
        if !isJSON { try? Console.output.write(text) }
    }

    /// Says how it ended.
    /// - Throws: a failure for everything but two devices that trust each other.
    func end(_ outcome: PairingOutcome) throws {
        switch outcome {
        case .paired(let device):
            if isJSON { return write(Line(event: "paired", device: DeviceRecord(device), isMutual: true)) }
            say("Paired with \(PlainText.line(device.label)). The notes are kept in step while `kith up` runs on both.")
        case .trustedAlone(let device, let failure):
            if isJSON { write(Line(event: "paired", reason: "\(failure.code)", device: DeviceRecord(device), isMutual: false)) }
            throw CommandFailure(
                .temporary,
                "This machine trusts \(device.label) now, but whether that is mutual is not known: \(failure.inCommands) Run kith pair again on both."
            )
        case .failed(let failure):
            throw CommandFailure(failure.code == .timedOut ? .temporary : .data, "Not paired. \(failure.inCommands)")
        case .tooManyFailures(let failures):
            throw CommandFailure(
                .data,
                "Not paired: \(failures) attempts failed, more are not allowed in one go. Find out why before you run kith pair again.")
        case .windowOver:
            throw CommandFailure(
                .unavailable, "Not paired: the time is over. Run kith pair on both machines at the same time, or give --address.")
        case .cancelled: throw CommandFailure(.temporary, "Not paired: it was stopped.")
        }
    }

    private func open(_ port: Int?) {
        switch method {
        case .numbers:
            if isJSON { return write(Line(event: "open", port: port)) }
            let place = port.map { " --address THIS-MACHINE:\($0)" } ?? ""
            say("Run this on the other machine within two minutes:\n  kith pair\nIf the two do not find each other: kith pair\(place)")
        case .showToken(let token):
            if isJSON { return write(Line(event: "open", port: port, token: token.text)) }
            say(
                """
                Run this on the other machine within ten minutes:
                  kith pair \(token.text)
                If the two do not find each other, add: --address THIS-MACHINE:\(port ?? 0)
                Whoever has the token first is trusted, so let nobody else see it.
                It works once.
                """)
            if showsQRCode, let lines = QRScreen.lines(for: token.text, on: .output) {
                for line in lines { try? Console.output.writeLine(line) }
            }
        case .enterToken:
            if isJSON { return write(Line(event: "open")) }
            say("Looking for the machine that shows this token.")
        }
    }

    private func compare(_ code: PairingCode) {
        if isJSON { return write(Line(event: "compare", code: code.digits)) }
        ask("\n    \(Console.output.styled(code.description, .bold))\n\nDoes the other machine show the same number? [yes/no] ")
    }

    private func note(_ event: String, _ message: String) {
        if isJSON { return write(Line(event: event, message: message)) }
        try? Console.error.writeLine("kith: \(PlainText.line(message))")
    }

    private func write(_ line: Line) {
        try? Console.output.write(json: line, isCompact: true)
    }
}
