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
}
