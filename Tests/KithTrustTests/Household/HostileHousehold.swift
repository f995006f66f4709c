import TestSupport

@testable import KithTrust

/// A household of honest devices that do not always meet, with up to three that sign whatever they like, and with the keys that honest
/// devices gave up in the hands of thieves.
struct HostileHousehold {
    /// An honest device and what it knows.
    struct Honest {
        var signer: RecordSigner
        var view: Membership
        /// The honest devices that led to it, itself included, under all their keys; `nil` if one that is not honest let it in.
        var line: Set<DeviceID>?
    }

    /// What an honest device knew when it revoked.
    struct Revocation {
        let record: MembershipRecord
        let known: Set<MembershipRecord.ID>
    }

    var random: SplitMix64
    var honest: [Honest] = []
    var liars: [RecordSigner] = []
    var liarsMax: Int
    /// Everything that was ever signed.
    var all: [MembershipRecord] = []
    var revocations: [Revocation] = []
    /// Keys that somebody has revoked, and given-up keys with which a thief took another one.
    var attacked: Set<DeviceID> = []
    private var signers = 0
    private let makeSigner: @Sendable (Int) -> RecordSigner

    init(seed: UInt64, makeSigner: @escaping @Sendable (Int) -> RecordSigner = { .standIn($0) }) throws {
        random = SplitMix64(seed: seed)
        self.makeSigner = makeSigner
        liarsMax = Int.random(in: 0...3, using: &random)
        let founder = newSigner()
        let view = try Membership.founded(by: founder, nonce: seed)
        all = view.records
        honest = [Honest(signer: founder, view: view, line: [founder.id])]
    }

    mutating func run(steps: Int) {
        for _ in 0..<steps { step() }
    }

    private mutating func newSigner() -> RecordSigner {
        signers += 1
        return makeSigner(signers)
    }

    private mutating func step() {
        let index = Int.random(in: honest.indices, using: &random)
        switch Int.random(in: 0..<16, using: &random) {
        case 0: say(.rename(honest[index].signer.id, name: "n\(random.next() % 9)"), index)
        case 1: if honest.count < 7 { add(by: index) }
        case 2: if liars.count < liarsMax { admitLiar(by: index) }
        case 3: revoke(by: index)
        case 4: renew(index)
        case 5...9: lie()
        case 10, 11: hearLiars(index)
        default:
            let other = Int.random(in: honest.indices, using: &random)
            let (left, right) = (honest[index].view, honest[other].view)
            honest[index].view.hear(right)
            honest[other].view.hear(left)
        }
    }

    // MARK: Honest devices

    @discardableResult
    private mutating func say(_ action: MembershipAction, _ index: Int) -> MembershipRecord? {
        let before = Set(honest[index].view.records.map(\.id))
        guard let said = try? honest[index].view.say(action, by: honest[index].signer, milliseconds: 0) else { return nil }
        all += honest[index].view.records.filter { !before.contains($0.id) }
        return said
    }

    private mutating func add(by index: Int) {
        let signer = newSigner()
        guard say(.add(signer.id, name: "d"), index) != nil else { return }
        honest.append(Honest(signer: signer, view: honest[index].view, line: honest[index].line.map { $0.union([signer.id]) }))
    }

    private mutating func admitLiar(by index: Int) {
        let signer = newSigner()
        if say(.add(signer.id, name: "l"), index) != nil { liars.append(signer) }
    }

    private mutating func revoke(by index: Int) {
        let own = Set(honest.map(\.signer.id))
        let others = honest[index].view.members.map(\.id).filter { !own.contains($0) }
        guard let device = others.randomElement(using: &random) else {
            // Now and then one is let in again, by somebody who knows.
            if let liar = liars.randomElement(using: &random), honest[index].view.isRevoked(liar.id), random.next() % 4 == 0 {
                say(.add(liar.id, name: "back"), index)
            }
            return
        }
        let known = Set(honest[index].view.records.map(\.id))
        guard let record = say(.revoke(device), index) else { return }
        revocations.append(Revocation(record: record, known: known))
        // It may have been the key that an honest device has just given up.
        attacked.insert(device)
    }

    private mutating func renew(_ index: Int) {
        guard random.next() % 3 == 0 else { return }
        let (old, new) = (honest[index].signer, newSigner())
        guard say(.replace(by: new.id), index) != nil else { return }
        honest[index].signer = new
        honest[index].line?.insert(new.id)
        if liars.count < liarsMax { liars.append(old) }
    }

    private mutating func hearLiars(_ index: Int) {
        _ = try? honest[index].view.insert(all.filter { _ in random.next() % 3 != 0 })
    }

    // MARK: Liars

    /// One that is not honest signs something, on top of anything that was ever signed.
    private mutating func lie() {
        guard let liar = liars.randomElement(using: &random) else { return }
        let additions = all.filter { $0.isAddition && $0.subject == liar.id }
        guard let warrant = additions.randomElement(using: &random) ?? all.first(where: { $0.author == liar.id && $0.isFirst }) else {
            return
        }
        var terms = RecordTerms()
        terms.warrant = warrant.id
        var action = MembershipAction.rename(liar.id, name: "x\(random.next() % 99)")
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return revokeAnything(liar, terms)
        case 1, 2:
            let puppet = newSigner()
            action = .add(puppet.id, name: "p")
            terms.room = Int.random(in: 0...20, using: &random)
            terms.round = random.next() % 4 == 0 ? Int.random(in: 0...3, using: &random) : 0
            if liars.count < 6 { liars.append(puppet) }
        case 3:
            guard let device = (honest.map(\.signer.id) + liars.map(\.id)).randomElement(using: &random) else { return }
            action = .add(device, name: "")
            terms.round = Int.random(in: 0...2, using: &random)
        case 4 where random.next() % 3 == 0:
            let puppet = newSigner()
            action = .replace(by: puppet.id)
            attacked.insert(liar.id)
            if liars.count < 6 { liars.append(puppet) }
        default: terms.edition = random.next() % 3 == 0 ? 65_535 : 1
        }
        let own = all.filter { $0.terms.warrant == warrant.id && $0.terms.number > 0 && !$0.isRenewal }
        let previous = random.next() % 4 == 0 ? nil : own.randomElement(using: &random)
        terms.previous = previous?.id ?? warrant.id
        terms.number = previous?.terms.next ?? 1
        sign(action, terms, liar)
    }

    private mutating func revokeAnything(_ liar: RecordSigner, _ terms: RecordTerms) {
        guard random.next() % 2 == 0, let target = all.filter({ $0.isAddition || $0.isFirst }).randomElement(using: &random) else { return }
        let device = target.subject ?? target.author
        var terms = terms
        terms.addition = target.id
        terms.seal = Int.random(in: 0...6, using: &random)
        sign(.revoke(device), terms, liar)
        attacked.insert(device)
    }

    /// Signs it, often with the lowest id of several.
    private mutating func sign(_ action: MembershipAction, _ terms: RecordTerms, _ liar: RecordSigner) {
        let tries = random.next() % 2 == 0 ? 8 as Int64 : 1
        let records = (0..<tries).compactMap { try? honest[0].view.record(action, terms, by: liar, milliseconds: $0) }
        if let record = records.min(by: { $0.id < $1.id }) { all.append(record) }
    }
}

extension MembershipRecord {
    /// The device that it is about.
    var subject: DeviceID? {
        switch action {
        case .found: nil
        case .add(let device, _), .rename(let device, _), .revoke(let device), .replace(let device): device
        }
    }
}
