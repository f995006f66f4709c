import KithCausality

/// What the members may hold of machines that were revoked.
///
/// A revocation is a matter of connections: a member that has heard of it takes nothing from the machine and gives it nothing. What
/// members had taken before is theirs, and they pass it on to each other; so does a member that has not heard of it yet.
struct RevokedContents {
    /// Who has heard that whom is no member any more.
    private var refusals: Set<Refusal> = []
    /// The commits that members knew whole, each when it was last allowed to take from a machine that is out.
    private var whole = Knowledge()
    /// Those of which they had single rows.
    private var parts = Knowledge()

    private struct Refusal: Hashable {
        let member: Int
        let revoked: Int
    }

    /// A member holds this much now, and rightly.
    mutating func allow(_ known: NodeKnowledge) {
        whole.join(known.common)
        for context in known.contexts.values { parts.join(context) }
    }

    /// Whether a member takes a machine for one that is out, as far as it has heard.
    mutating func note(member: Int, refuses revoked: Int, _ isRefused: Bool) {
        let refusal = Refusal(member: member, revoked: revoked)
        if isRefused { refusals.insert(refusal) } else { refusals.remove(refusal) }
    }

    /// Whether `node` may still take from `other` and give to it, and the other way round.
    func mayMeet(_ node: Int, _ other: Int) -> Bool {
        refusals.isEmpty
            || !refusals.contains(Refusal(member: node, revoked: other)) && !refusals.contains(Refusal(member: other, revoked: node))
    }

    /// A commit of one of the machines `revoked` that no member may hold, and `known` does.
    func excess(in known: NodeKnowledge, of revoked: Set<Int>, _ ledger: Ledger) -> EventID? {
        if let event = ledger.commit(of: revoked, in: known.common, beyond: whole) { return event }
        var rows = Knowledge()
        for context in known.contexts.values { rows.join(context) }
        var allowed = whole
        allowed.join(parts)
        return ledger.commit(of: revoked, in: rows, beyond: allowed)
    }
}
