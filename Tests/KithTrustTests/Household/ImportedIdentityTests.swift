import Foundation
import TestSupport
import Testing

@testable import KithTrust

/// The risk: a backup of an identity signs again what it signed already, and void is what honest people did.
@Suite struct ImportedIdentityTests {
    private let (founder, phone, tablet): (TrustedHome, TrustedHome, TrustedHome)
    private let passphrase = "correct horse battery"

    init() throws {
        (founder, phone, tablet) = (try TrustedHome(), try TrustedHome(), try TrustedHome())
        try founder.store.found(Household.founded(as: "founder", by: founder.key))
    }

    private func export() throws -> [UInt8] {
        try IdentityArchive.sealed(from: founder.folder.url, passphrase: passphrase, cost: .init(logN: 4, r: 8, p: 1))
    }

    @Test func `what was exported in March and imported in October does not undo what was said in June`() throws {
        let march = try export()
        try founder.pair(with: phone)
        let october = try TrustedHome(importing: march, passphrase: passphrase)
        #expect(october.id == founder.id && october.store.standing == .member && october.trusted.isEmpty)
        let error = #expect(throws: TrustError.self) { try october.sponsor(tablet) }
        #expect(error?.code == .notHeardYet)
        #expect(throws: TrustError.self) { try october.store.rename(october.id, to: "x") }
        #expect(throws: TrustError.self) { try october.store.renewKey() }
        // Another start changes nothing; hearing from the phone does.
        try october.reopen()
        #expect(throws: TrustError.self) { try october.store.rename(october.id, to: "x") }
        try october.exchange(with: phone)
        #expect(october.trusted == [phone.id] && october.store.household?.isImported == false)
        try october.reopen()
        try october.pair(with: tablet)
        try october.exchange(with: phone)
        #expect(phone.trusted == [founder.id, tablet.id] && october.trusted == [phone.id, tablet.id])
    }

    @Test func `an import that lacks nothing goes on as soon as it has met a member`() throws {
        try founder.pair(with: phone)
        let copy = try TrustedHome(importing: export(), passphrase: passphrase)
        #expect(throws: TrustError.self) { try copy.store.rename(copy.id, to: "x") }
        try copy.exchange(with: phone)
        try copy.store.rename(copy.id, to: "attic")
        try copy.exchange(with: phone)
        #expect(phone.store.device(copy.id)?.name == "attic")
    }

    @Test func `an import that meets nobody leaves without a word`() throws {
        try founder.pair(with: phone)
        let copy = try TrustedHome(importing: export(), passphrase: passphrase)
        try copy.store.leave()
        #expect(copy.store.standing == .alone)
        try copy.pair(with: tablet)
        #expect(copy.trusted == [tablet.id] && phone.trusted == [founder.id])
    }
}

extension TrustedHome {
    convenience init(importing archive: [UInt8], passphrase: String) throws {
        let folder = try TemporaryFolder()
        try IdentityArchive.restore(archive, passphrase: passphrase, into: folder.url)
        try self.init(in: folder)
    }
}
