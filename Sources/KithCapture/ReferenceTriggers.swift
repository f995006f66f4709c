import KithLedger
import KithSync
import KithTexts

/// What the triggers of a table note so that references are obeyed at the end of a merge, or after a local commit that lets
/// go of a row shown for its sake, or brings one that others wait for.
struct ReferenceTriggers {
    let table: Int
    let key: String
    let tracked: CatalogTable.Tracked

    var insert: String {
        guard tracked.isRelated else { return "" }
        let waits = [ReferenceRecords.isAwaitedSQL(table: table, id: "new.\(key)")]
        return note("\(table), new.\(key)", (["kith_is_applying()"] + waits + standsIn).joined(separator: " OR "))
    }

    /// Whether the new row stands in for ones that are missing.
    private var standsIn: [String] {
        tracked.referrers.compactMap { reference in
            guard let id = reference.substitute else { return nil }
            return "new.\(key) = x'\(id)' AND \(ReferenceRecords.hasWaitingSQL(reference))"
        }
    }

    var update: String {
        tracked.references.map { reference in
            let changes = "old.\(reference.name) IS NOT new.\(reference.name)"
            return note("\(table), new.\(key)", "\(changes) AND kith_is_applying()")
                + note("\(reference.parent), old.\(reference.name)", "\(changes) AND \(isHeld(reference))")
        }.joined()
    }

    var delete: String {
        guard tracked.isRelated else { return "" }
        return note("\(table), old.\(key)", "kith_is_applying()")
            + tracked.references.map { note("\($0.parent), old.\($0.name)", isHeld($0)) }.joined()
    }

    private func isHeld(_ reference: Reference) -> String {
        ReferenceRecords.isHeldSQL(table: reference.parent, id: "old.\(reference.name)")
    }

    private func note(_ row: String, _ condition: String) -> String {
        "  \(ReferenceRecords.noteSQL(row, if: condition));\n"
    }
}
