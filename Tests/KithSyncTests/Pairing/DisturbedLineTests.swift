import TestSupport
import Testing

@testable import KithSync

/// The risk: lost, repeated, reordered or damaged messages lead to trust, to a hang, or to a crash.
@Suite struct DisturbedLineTests {
    private static let token = [UInt8](repeating: 7, count: 16)
    private static let methods: [[PairingMethod]] = [[.numbers, .numbers], [.token(token), .token(token)]]

    /// Whatever the line does: both sides end, and who trusts had a person's yes, or the token's, on both sides.
    private func check(_ table: PairingTable, isHarmless: Bool = false, _ name: String) {
        #expect(table.ends.allSatisfy { $0 != nil }, "\(name)")
        #expect(table.sessions.allSatisfy { $0.nextDeadline == nil }, "\(name)")
        for side in 0...1 {
            switch table.ends[side] {
            case .paired:
                #expect(table.trusts[0] != nil && table.trusts[1] != nil, "\(name)")
                #expect(table.codes[0] == table.codes[1], "\(name)")
            case .trustedAlone: #expect(table.trusts[side] != nil, "\(name)")
            case .failed: #expect(table.trusts[side] == nil, "\(name)")
            case nil: break
            }
        }
        if isHarmless { #expect(table.ends == [.paired, .paired], "\(name)") }
    }

    @Test func `every set of lost messages ends cleanly`() {
        for methods in Self.methods {
            var whole = PairingTable(methods)
            whole.run()
            let count = whole.sent.count
            #expect(count == (methods[0] == .numbers ? 7 : 8))
            for mask in 0..<(UInt(1) << UInt(count)) {
                var table = PairingTable(methods)
                table.fault = .drop(mask)
                table.run()
                check(table, isHarmless: mask == 0, "lost \(String(mask, radix: 2))")
            }
        }
    }

    @Test func `every replay and every reordering ends cleanly`() {
        for methods in Self.methods {
            for index in 0..<8 {
                var faults: [(String, PairingTable.Fault)] = [
                    ("\(index) twice", .duplicate(index)), ("\(index) late", .delay(index)), ("cut at \(index)", .cut(index)),
                ]
                for place in (index + 1)..<9 { faults.append(("\(index) instead of \(place)", .replay(index, insteadOf: place))) }
                for (name, fault) in faults {
                    var table = PairingTable(methods)
                    table.fault = fault
                    table.run()
                    check(table, name)
                }
            }
        }
    }

    @Test func `a message twice before the answers is an end`() {
        for index in 0..<3 {
            var table = PairingTable()
            table.answers = [nil, nil]
            table.fault = .duplicate(index)
            table.run()
            #expect(table.trusts.allSatisfy { $0 == nil })
            #expect(table.ends.contains(.failed(PairingFailure(.protocolError))))
        }
    }

    @Test func `ten thousand damaged messages harm nobody`() {
        var random = SplitMix64(seed: 13)
        for round in 0..<5_000 {
            let methods = Self.methods[round % 2]
            var whole = PairingTable(methods, seed: UInt64(round))
            whole.run()
            for _ in 0..<2 {
                let place = Int.random(in: 0..<whole.sent.count, using: &random)
                let side = Int.random(in: 0...1, using: &random)
                var table = PairingTable(methods, seed: UInt64(round))
                table.answers = [nil, nil]
                for side in 0...1 { table.feed(side, .connected) }
                table.settle()
                let damaged = damage(whole.sent[place], &random)
                table.feed(side, .received(damaged))
                if let message = try? PairingMessage(damaged) { #expect(message.encoded == damaged || damaged[0] == 1 || damaged[0] == 7) }
                // With numbers nobody has answered, so nobody may be trusted whatever came.
                if methods[0] == .numbers { #expect(table.trusts.allSatisfy { $0 == nil }) }
            }
        }
    }

    private func damage(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let at = bytes.isEmpty ? 0 : Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0...4, using: &random) {
            case 0 where !bytes.isEmpty: bytes[at] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 1 where !bytes.isEmpty: bytes.remove(at: at)
            case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: at)
            case 3: bytes = Array(bytes.prefix(at))
            default: bytes += (0..<Int.random(in: 0...200, using: &random)).map { UInt8(truncatingIfNeeded: $0) }
            }
        }
        return bytes
    }

    // MARK: Limits

    @Test func `a name of the longest length passes and a longer one does not`() throws {
        let name = [UInt8](repeating: 0x61, count: PairingLimits.nameBytesMax)
        let message = PairingMessage.accept(name: name, port: 65_535, household: PairingTable.noHousehold)
        #expect(try PairingMessage(message.encoded) == message)
        #expect(throws: WireError.limitExceeded("nameBytesMax")) { try PairingMessage(message.encoded + [0x61]) }
    }

    @Test func `a message of the longest length is read and a longer one is not`() throws {
        let other: [UInt8] = [1, 2]
        let longest = other + [UInt8](repeating: 0, count: PairingLimits.messageBytesMax - 2)
        #expect(try PairingMessage(longest) == .open(version: 2, method: 0, value: [], app: []))
        #expect(throws: WireError.limitExceeded("messageBytesMax")) { try PairingMessage(longest + [0]) }
    }

    @Test func `nothing is read of a message that is too short or too long`() throws {
        let all: [PairingMessage] = [
            .open(version: 1, method: 1, value: [UInt8](repeating: 1, count: 32), app: [UInt8](repeating: 2, count: 32)),
            .nonce([UInt8](repeating: 1, count: 32)),
            .reveal([UInt8](repeating: 1, count: 32)), .proof([UInt8](repeating: 1, count: 32)), .done, .end(.busy),
        ]
        for message in all {
            #expect(try PairingMessage(message.encoded) == message)
            #expect(throws: WireError.truncated) { try PairingMessage(Array(message.encoded.dropLast())) }
            #expect(throws: WireError.self) { try PairingMessage(message.encoded + [0]) }
        }
        #expect(throws: WireError.truncated) { try PairingMessage([]) }
        #expect(throws: WireError.unsupported("message 8")) { try PairingMessage([8]) }
    }
}
