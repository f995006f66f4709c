import Testing

@testable import KithSync

/// The risk: two devices that pair end in different households, or one leaves its household though nobody said so.
@Suite struct TwoHouseholdTests {
    private static func id(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

    /// The households of acceptor and initiator, and in whose they end; `nil` for neither.
    private static let cases: [(HouseholdClaim, HouseholdClaim, PairingTable.Side?)] = [
        (HouseholdClaim(.new, id(1)), HouseholdClaim(.new, id(2)), .acceptor),
        (HouseholdClaim(.new, id(1)), HouseholdClaim(.yielding, id(2)), .initiator),
        (HouseholdClaim(.new, id(1)), HouseholdClaim(.staying, id(2)), .initiator),
        (HouseholdClaim(.yielding, id(1)), HouseholdClaim(.new, id(2)), .acceptor),
        (HouseholdClaim(.yielding, id(1)), HouseholdClaim(.yielding, id(2)), .acceptor),
        (HouseholdClaim(.yielding, id(1)), HouseholdClaim(.staying, id(2)), .initiator),
        (HouseholdClaim(.staying, id(1)), HouseholdClaim(.new, id(2)), .acceptor),
        (HouseholdClaim(.staying, id(1)), HouseholdClaim(.yielding, id(2)), .acceptor),
        (HouseholdClaim(.staying, id(1)), HouseholdClaim(.staying, id(2)), nil),
    ]

    @Test(arguments: cases.indices) func `both draw the same conclusion`(index: Int) {
        let (acceptor, initiator, expected) = Self.cases[index]
        for method in [PairingMethod.numbers, .token([UInt8](repeating: 7, count: 16))] {
            var table = PairingTable([method, method], households: [acceptor, initiator])
            table.run()
            guard let expected else {
                #expect(table.choices == [nil, nil])
                for end in table.ends {
                    guard case .failed(let failure) = end else {
                        Issue.record("\(String(describing: end))")
                        continue
                    }
                    #expect(failure.code == .otherHousehold)
                }
                continue
            }
            #expect(table.ends == [.paired, .paired])
            let claims = [acceptor, initiator]
            #expect(table.choices[expected.rawValue] == .own)
            #expect(table.choices[1 - expected.rawValue] == .peer(claims[expected.rawValue].household))
        }
    }

    @Test func `two of one household pair again`() {
        let claim = HouseholdClaim(.staying, Self.id(1))
        var table = PairingTable(households: [claim, claim])
        table.run()
        #expect(table.ends == [.paired, .paired])
        #expect(table.choices == [.own, .own])
    }

    @Test func `a claim of an unknown kind is refused`() {
        var bytes = PairingMessage.accept(name: [], port: 0, household: PairingTable.noHousehold).encoded
        bytes[3] = 3
        #expect(throws: WireError.self) { try PairingMessage(bytes) }
    }
}
