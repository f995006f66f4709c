import KithLedger
import KithSync
import KithTexts

/// What the triggers of a table note so that references are obeyed at the end of a merge, or after a local commit that lets
/// go of a row shown for its sake, or brings one that others wait for.
struct ReferenceTriggers {
    let table: Int
    let tracked: CatalogTable.Tracked

    /// The key of the row `new` or `old`, and its 16 bytes.
    private func key(_ row: String) -> String { "\(row).\(quoted(tracked.key))" }
    private func id(_ row: String) -> String { tracked.form.idSQL(key(row)) }

    var insert: String {
        guard tracked.isRelated else { return "" }
        let waits = [ReferenceRecords.isAwaitedSQL(table: table, id: key("new"))]
        return note("\(table), \(id("new"))", (["kith_is_applying()"] + waits + standsIn).joined(separator: " OR "))
    }

    /// Whether the new row stands in for ones that are missing.
    private var standsIn: [String] {
        tracked.referrers.compactMap { reference in
            guard let id = reference.substitute else { return nil }
            return "\(key("new")) = \(tracked.form.literal(id)) AND \(ReferenceRecords.hasWaitingSQL(reference))"
        }
    }

    var update: String {
        tracked.references.map { reference in
            let changes = "old.\(reference.name) IS NOT new.\(reference.name)"
            return note("\(table), \(id("new"))", "\(changes) AND kith_is_applying()")
                + note("\(reference.parent), \(parent(reference))", "\(changes) AND \(isHeld(reference))")
        }.joined()
    }

    var delete: String {
        guard tracked.isRelated else { return "" }
        return note("\(table), \(id("old"))", "kith_is_applying()")
            + tracked.references.map { note("\($0.parent), \(parent($0))", isHeld($0)) }.joined()
    }

    /// The 16 bytes of what the column referred to.
    private func parent(_ reference: Reference) -> String { reference.parentForm.idSQL("old.\(reference.name)") }

    private func isHeld(_ reference: Reference) -> String {
        ReferenceRecords.isHeldSQL(table: reference.parent, id: parent(reference))
    }

    private func note(_ row: String, _ condition: String) -> String {
        "  \(ReferenceRecords.noteSQL(row, if: condition));\n"
    }
}
