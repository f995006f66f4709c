import ArgumentParser
import Foundation
import Kith
import KithNotes

struct PairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Let this machine and another one trust each other.",
        discussion: """
            Run it on both within two minutes. Both show six digits; where they are the same, say yes on both. With --json, \
            or from a script, the answer is a line on standard input: yes, no, or the digits that the other machine shows.

            For a machine without a screen, make a token on one and enter it on the other.

            EXAMPLES
              kith pair
              kith pair --address 192.168.1.5:4748      if mDNS does not find the other
              kith pair --token                         on one machine
              kith pair ABCD-EFGH-IJKL-MNOP-QRST-UVWX-YZ23    on the other
            """)

    @Argument(
        help: ArgumentHelp(
            "The token that the other machine shows, with spaces or without; - reads it from standard input, where no list of processes shows it.",
            valueName: "token"))
    var tokenParts: [String] = []

    private var token: String? { tokenParts.isEmpty ? nil : tokenParts.joined(separator: " ") }

    @Flag(
        name: .customLong("token"),
        help: "Show a token for the other machine instead of digits to compare. It is good for ten minutes, once.")
    var showsToken = false

    @Flag(name: .customLong("no-qr"), help: "Show the token without a QR code, which only a terminal shows.")
    var noQR = false

    @Option(help: "HOST:PORT, where the other machine waits; needed without mDNS.")
    var address: String?

    @Option(help: "The port to wait on; 0 for any that is free. Without it, 4748 if that is free.")
    var port: Int?

    @Option(
        parsing: .unconditional,
        help: "What this machine calls itself; by default its host name. Only the household is told.")
    var name: String?

    @Flag(
        help: """
            If both machines are in a household, go from the one of this machine to the other's. The notes come along. The household that \
            it was in is not told: run `kith device revoke` there.
            """)
    var join = false

    @Flag(help: "Neither announce this machine nor look for others by mDNS.")
    var noDiscovery = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port needs a number from 0 to 65535.") }
        if let name {
            try DeviceNameOption.check(name)
            if name.utf8.count > TrustedDevice.nameBytesMax {
                throw ValidationError("The name of a machine has at most \(TrustedDevice.nameBytesMax) bytes. Choose a shorter one.")
            }
        }
        if showsToken, token != nil { throw ValidationError("Either show a token with --token, or enter one, not both.") }
        if showsToken, address != nil { throw ValidationError("The machine that shows the token waits; give --address on the other one.") }
        if token != nil, noDiscovery, address == nil {
            throw ValidationError("Without mDNS the other machine is found by --address HOST:PORT alone, which it shows beside the token.")
        }
        if token != nil, port != nil {
            throw ValidationError("The machine that enters the token waits on no port; give --port on the other one.")
        }
    }

    func run() async throws {
        let signals = StopSignals()
        let configuration = try pairingConfiguration()
        let trust = try options.trust()
        let key = try DeviceKey.load(from: options.identity())
        let screen = PairingScreen(isJSON: options.json, method: configuration.method, showsQRCode: !noQR)
        let pairing = try Pairing(key: key, trust: trust, configuration: configuration)
        let dialogue = PairingDialogue(pairing, screen)
        let outcome = try await Self.run(pairing, dialogue, asksPeople: token == nil && !showsToken, until: signals.stream)
        try screen.end(outcome)
    }

    private func pairingConfiguration() throws -> PairingConfiguration {
        var random = SystemRandomNumberGenerator()
        let method: PairingConfiguration.Method
        if let token {
            do throws(PairingTokenError) {
                method = .enterToken(try PairingToken(parsing: token == "-" ? readLine() ?? "" : token))
            } catch {
                throw CommandFailure(.data, error.description)
            }
        } else {
            method = showsToken ? .showToken(.random(using: &random)) : .numbers
        }
        let hostName = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        var configuration = PairingConfiguration(
            method, app: NotesStore.app, name: name ?? String(hostName), address: try address.map { try PeerAddress(typed: $0) })
        configuration.port = port
        configuration.usesDiscovery = !noDiscovery
        configuration.joinsOther = join
        configuration.takePort(of: StatusFile(forStore: try options.folders().notes).read())
        return configuration
    }

    /// Returns when the window is closed; a signal closes it.
    private static func run(
        _ pairing: Pairing, _ dialogue: PairingDialogue, asksPeople: Bool, until signals: AsyncStream<Int32>
    ) async throws -> PairingOutcome {
        let pairingTask = Task { try await pairing.run() }
        let others = Task {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    for await number in signals {
                        await dialogue.isStopped(by: number)
                        pairingTask.cancel()
                        StopSignals.exitIfNotDone { StopSignals.endProcess(by: number) }
                    }
                }
                if asksPeople {
                    group.addTask {
                        for await line in InputLines.all { await dialogue.take(line) }
                        if await !dialogue.hasAnswer, !Task.isCancelled {
                            await dialogue.inputIsOver()
                            pairingTask.cancel()
                        }
                    }
                }
            }
        }
        defer { others.cancel() }
        for await event in pairing.events { await dialogue.show(event) }
        let outcome = try await pairingTask.value
        if let number = await dialogue.signal, outcome == .cancelled {
            try Console.error.writeLine("kith: Not paired: it was stopped.")
            StopSignals.endProcess(by: number)
        }
        if await dialogue.isWithoutInput, outcome == .cancelled {
            throw CommandFailure(
                .usage, "Standard input is closed, so nobody can answer whether the digits are the same. Use kith pair --token.")
        }
        return outcome
    }
}
