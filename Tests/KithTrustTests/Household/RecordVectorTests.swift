import Foundation
import Testing

@testable import KithTrust

/// The risk: another implementation that follows docs/household.md does not understand ours. These records were made by another
/// program, in another language, from the document alone.
@Suite struct RecordVectorTests {
    private struct Vectors: Decodable {
        struct Record: Decodable {
            let what: String
            let id: String
            let bytes: Data
        }
        struct Member: Decodable {
            let id: String
            let name: String
        }
        let records: [Record]
        let digest: String
        let members: [Member]
    }

    private func vectors() throws -> Vectors {
        let file = try #require(Bundle.module.url(forResource: "household-records", withExtension: "json", subdirectory: "Fixtures"))
        return try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file))
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test func `records made from the document alone are understood`() throws {
        let vectors = try vectors()
        let records = try vectors.records.map { try MembershipRecord(bytes: Array($0.bytes)) }
        for (record, vector) in zip(records, vectors.records) { #expect(hex(record.id.bytes) == vector.id, "\(vector.what)") }
        var membership = Membership(of: try #require(records.first).household)
        try membership.insert(records)
        #expect(membership.records.count == records.count)
        #expect(hex(membership.digest) == vectors.digest)
        let members = Dictionary(uniqueKeysWithValues: membership.members.map { (hex($0.id.bytes), $0.name) })
        #expect(members == Dictionary(uniqueKeysWithValues: vectors.members.map { ($0.id, $0.name) }))
        #expect(membership.members.allSatisfy { $0.addedMilliseconds >= 1_800_000_000_000 })
    }

    @Test func `what we write is what the document says`() throws {
        for vector in try vectors().records {
            let bytes = Array(vector.bytes)
            let fields = try MembershipRecordCodec.fields(of: bytes)
            let content = try MembershipRecordCodec.content(
                fields.action, fields.terms, household: fields.household.bytes, author: fields.author, milliseconds: fields.milliseconds)
            #expect(content == Array(bytes.dropLast(64)), "\(vector.what)")
        }
    }

    /// The frames of these records, without the two bytes of the type and of the empty table of replicas.
    private func messages() throws -> [String: [UInt8]] {
        let file = try #require(Bundle.module.url(forResource: "household-frames", withExtension: "json", subdirectory: "Fixtures"))
        return try JSONDecoder().decode([String: String].self, from: Data(contentsOf: file)).mapValues { text in
            let digits = text.compactMap(\.hexDigitValue)
            let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
            #expect(bytes.prefix(2) == [0xA0, 0])
            return Array(bytes.dropFirst(2))
        }
    }

    @Test func `messages made from the document alone are understood and are what we write`() throws {
        let (vectors, messages) = (try vectors(), try messages())
        let records = try vectors.records.map { try MembershipRecord(bytes: Array($0.bytes)) }
        var household = Household(joining: try #require(records.first).household)
        try household.membership.insert(records)
        let secrets = [2, 1].compactMap { HouseholdSecret(number: $0, bytes: [UInt8](repeating: UInt8($0) * 0x11, count: 32)) }
        household.secrets = secrets
        let expected: [String: HouseholdMessage] = [
            "digest": .digest(household.digest), "have": .have(records.map(\.id).sorted()),
            "records": .records(records.prefix(2).map(\.bytes)), "secrets": .secrets(secrets),
        ]
        #expect(Set(messages.keys) == Set(expected.keys))
        for (name, message) in expected {
            let bytes = try #require(messages[name])
            #expect(HouseholdMessage(bytes) == message, "\(name)")
            #expect(message.encoded == bytes, "\(name)")
        }
    }
}
