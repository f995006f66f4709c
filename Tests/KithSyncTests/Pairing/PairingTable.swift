import TestSupport

@testable import KithSync

/// Two sessions, the line between them, and two people with their minds made up.
struct PairingTable {
    /// What the line does to the messages, counted from 0 in the order in which they are sent.
    enum Fault {
        case none
        /// Loses the messages whose bits are set.
        case drop(UInt)
        /// Brings a message, and later brings it again in the place of another.
        case replay(Int, insteadOf: Int)
        /// Brings a message twice.
        case duplicate(Int)
        /// Brings a message behind the next one.
        case delay(Int)
        /// The connection breaks when this message is sent.
        case cut(Int)
    }

    enum Side: Int, CaseIterable {
        case acceptor, initiator
    }

    var sessions: [PairingSession]
    /// What each person answers to the question whether the numbers are the same; `nil` for one who went for a coffee.
    var answers: [Bool?] = [true, true]
    var canTrust = [true, true]
    /// Whether the list is still being written when the line goes on.
    var isWriting = [false, false]
    var fault = Fault.none
    private(set) var codes: [PairingCode?] = [nil, nil]
    private(set) var trusts: [(name: [UInt8], port: UInt16)?] = [nil, nil]
    private(set) var choices: [HouseholdChoice?] = [nil, nil]
    private(set) var ends: [PairingEnd?] = [nil, nil]
    private(set) var sent: [[UInt8]] = []
    private var line: [(to: Int, bytes: [UInt8])] = []
    private var delayed: (to: Int, bytes: [UInt8])?
    private var isCut = false
    var now = Instant(milliseconds: 0)

    static let ids = [[UInt8](repeating: 0xA1, count: 32), [UInt8](repeating: 0xB2, count: 32)]

    static let noHousehold = HouseholdClaim(.new, [UInt8](repeating: 0, count: 32))

    init(
        _ methods: [PairingMethod] = [.numbers, .numbers], seed: UInt64 = 1,
        households: [HouseholdClaim] = [Self.noHousehold, Self.noHousehold], apps: [AppID] = ["test", "test"]
    ) {
        var random = SplitMix64(seed: seed)
        sessions = [PairingRole.acceptor, .initiator].enumerated().map { index, role in
            var configuration = PairingSession.Configuration(
                own: Self.ids[index], peer: Self.ids[1 - index], role: role, app: apps[index], method: methods[index])
            configuration.name = Array("device \(index)".utf8)
            configuration.port = UInt16(4747 + index)
            configuration.household = households[index]
            let nonce = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
            return PairingSession(configuration, nonce: nonce, cryptography: StandInCryptography())
        }
    }

    /// Lets everything happen that can happen, then lets all deadlines pass.
    mutating func run() {
        feed(0, .connected)
        feed(1, .connected)
        settle()
        for _ in 0..<4 {
            now = now.advanced(byMilliseconds: 200_000)
            feed(0, .tick)
            feed(1, .tick)
            settle()
        }
    }

    mutating func feed(_ side: Int, _ input: PairingSession.Input) {
        for effect in sessions[side].handle(input, now: now) { perform(effect, side) }
    }

    mutating func settle() {
        while true {
            if !line.isEmpty {
                let next = line.removeFirst()
                feed(next.to, .received(next.bytes))
            } else if let late = delayed {
                delayed = nil
                feed(late.to, .received(late.bytes))
            } else {
                return
            }
        }
    }

    private mutating func perform(_ effect: PairingSession.Effect, _ side: Int) {
        switch effect {
        case .send(let bytes): send(bytes, to: 1 - side)
        case .show(let code):
            codes[side] = code
            if let answer = answers[side] { feed(side, .answered(isSame: answer)) }
        case .trust(let name, let port, let choice):
            if canTrust[side] {
                trusts[side] = (name, port)
                choices[side] = choice
            }
            if !isWriting[side] { feed(side, canTrust[side] ? .trusted : .trustFailed) }
        case .end(let end):
            ends[side] = end
        }
    }

    private mutating func send(_ bytes: [UInt8], to side: Int) {
        let index = sent.count
        sent.append(bytes)
        guard !isCut else { return }
        switch fault {
        case .drop(let mask) where index < UInt.bitWidth && mask >> UInt(index) & 1 == 1: break
        case .replay(let old, let place) where index == place && old < place: line.append((side, sent[old]))
        case .duplicate(index): line += [(side, bytes), (side, bytes)]
        case .delay(index): delayed = (side, bytes)
        case .cut(index):
            isCut = true
            line = []
            feed(0, .disconnected)
            feed(1, .disconnected)
        default:
            line.append((side, bytes))
            if let late = delayed, late.to == side {
                delayed = nil
                line.append(late)
            }
        }
    }
}
