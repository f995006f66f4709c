import Testing

@testable import KithSync

/// The risk: two devices trust each other without both people having said so, or a pairing hangs without a word.
@Suite struct PairingJourneyTests {
    private let token = [UInt8](repeating: 7, count: 16)

    @Test func `two people who say yes pair their devices`() {
        var table = PairingTable()
        table.run()
        #expect(table.codes[0] != nil && table.codes[0] == table.codes[1])
        #expect(table.ends == [.paired, .paired])
        #expect(table.trusts[0].map { String(decoding: $0.name, as: UTF8.self) } == "device 1")
        #expect(table.trusts[0]?.port == 4748)
        #expect(table.trusts[1].map { String(decoding: $0.name, as: UTF8.self) } == "device 0")
    }

    @Test func `a token pairs without anybody`() {
        var table = PairingTable([.token(token), .token(token)])
        table.answers = [nil, nil]
        table.run()
        #expect(table.ends == [.paired, .paired])
        #expect(table.codes == [nil, nil])
        #expect(table.trusts.allSatisfy { $0 != nil })
    }

    @Test(arguments: [[true, false], [false, true], [false, false]]) func `one no is enough`(answers: [Bool]) {
        var table = PairingTable()
        table.answers = answers
        table.run()
        #expect(table.trusts.allSatisfy { $0 == nil })
        for side in 0...1 {
            guard case .failed(let failure)? = table.ends[side] else { Issue.record("side \(side) has no end"); continue }
            #expect(failure.code == .refused)
        }
        #expect(table.sessions.allSatisfy { $0.isGuess })
    }

    @Test(arguments: [[nil, true], [true, nil], [nil, nil]]) func `nobody is trusted while one person is silent`(answers: [Bool?]) {
        var table = PairingTable()
        table.answers = answers
        table.run()
        #expect(table.trusts.allSatisfy { $0 == nil })
        #expect(table.ends.contains(.failed(PairingFailure(.timedOut))))
        #expect(table.ends.allSatisfy { $0 != nil && $0 != .paired })
        #expect(table.sessions.allSatisfy { $0.nextDeadline == nil })
    }

    @Test func `a yes before there are numbers does nothing`() {
        var table = PairingTable()
        table.answers = [nil, nil]
        for side in 0...1 { table.feed(side, .answered(isSame: true)) }
        for side in 0...1 { table.feed(side, .connected) }
        for side in 0...1 { table.feed(side, .answered(isSame: true)) }
        table.settle()
        #expect(table.codes.allSatisfy { $0 != nil })
        #expect(table.trusts.allSatisfy { $0 == nil })
        #expect(table.sent.count == 3)
    }

    @Test func `a second answer does not count`() {
        var table = PairingTable()
        table.answers = [true, nil]
        for side in 0...1 { table.feed(side, .connected) }
        table.settle()
        table.feed(0, .answered(isSame: false))
        table.feed(1, .answered(isSame: true))
        table.settle()
        #expect(table.ends == [.paired, .paired])
    }

    @Test(arguments: [0, 1]) func `a peer that says yes before the numbers is refused`(side: Int) {
        var table = PairingTable()
        table.feed(side, .connected)
        table.feed(side, .received(PairingMessage.accept(name: [], port: 0, household: PairingTable.noHousehold).encoded))
        #expect(table.ends[side] == .failed(PairingFailure(.protocolError)))
    }

    @Test func `another version ends with its reason on both sides`() {
        var table = PairingTable()
        table.feed(0, .connected)
        table.feed(0, .received([1, 2, 99, 1, 2, 3]))
        #expect(table.ends[0] == .failed(PairingFailure(.unsupportedVersion)))
        #expect(table.sent == [PairingMessage.end(.unsupportedVersion).encoded])
        table.feed(1, .connected)
        table.feed(1, .received(table.sent[0]))
        #expect(table.ends[1] == .failed(PairingFailure(.unsupportedVersion, isFromPeer: true)))
    }

    @Test func `numbers and a token do not mix`() {
        for methods in [[PairingMethod.token(token), .numbers], [.numbers, .token(token)]] {
            var table = PairingTable(methods)
            table.run()
            #expect(table.ends == [.failed(PairingFailure(.otherMethod)), .failed(PairingFailure(.otherMethod, isFromPeer: true))])
            #expect(table.sessions.allSatisfy { !$0.isGuess })
        }
    }

    @Test func `a list that cannot be written is said on both sides`() {
        for side in 0...1 {
            var table = PairingTable()
            table.canTrust[side] = false
            table.run()
            #expect(table.trusts[side] == nil)
            #expect(table.ends[side] == .failed(PairingFailure(.storeFailed)))
            #expect(table.ends[1 - side] == .trustedAlone(PairingFailure(.storeFailed, isFromPeer: true)))
        }
    }

    /// What has been handed to the disk cannot be called back, so what happens meanwhile decides only what is said about it.
    @Test(arguments: [
        (PairingSession.Input.disconnected, PairingEnd.trustedAlone(PairingFailure(.connectionLost))),
        (.stop(.cancelled), .trustedAlone(PairingFailure(.cancelled))),
        (.received([7, 11]), .trustedAlone(PairingFailure(.storeFailed, isFromPeer: true))),
        (.received([99]), .trustedAlone(PairingFailure(.protocolError))), (.received([6]), .paired),
    ])
    func `what happens while the list is written is said afterwards`(input: PairingSession.Input, end: PairingEnd) {
        for answer in [PairingSession.Input.trusted, .trustFailed] {
            var table = PairingTable()
            table.isWriting = [true, true]
            for side in 0...1 { table.feed(side, .connected) }
            table.settle()
            table.feed(0, input)
            #expect(table.ends[0] == nil)
            table.feed(0, .tick)
            table.feed(0, answer)
            #expect(table.ends[0] == (answer == .trusted ? end : .failed(PairingFailure(.storeFailed))))
        }
    }

    @Test func `a nonce shown that was not committed to is found out`() {
        var table = PairingTable()
        for side in 0...1 { table.feed(side, .connected) }
        table.feed(0, .received(table.sent[0]))
        table.feed(0, .received(PairingMessage.reveal([UInt8](repeating: 3, count: 32)).encoded))
        #expect(table.ends[0] == .failed(PairingFailure(.commitmentBroken)))
        #expect(table.sessions[0].isGuess)
    }

    @Test func `every reason has its sentence`() {
        for code in PairingFailure.Code.allCases {
            for isFromPeer in [true, false] {
                #expect(PairingFailure(code, isFromPeer: isFromPeer).description.hasSuffix("."))
            }
        }
    }
}
