import KithLedger
import KithMerge

/// The tables that Kith keeps beside the app's own, but for those of texts and journals. See docs/architecture.md, "Tables".
enum Sidecar {
    static let sql = """
        \(MetaRecords.sql)
        \(VectorRecords.sql)
        \(CatalogStore.sql)
        \(IncompleteColumns.sql)
        \(DotIndex.sql)
        \(HiddenRows.sql)
        \(LocalValues.sql)
        \(DigestRows.sql)
        \(ContextRecords.sql)
        \(MemberRecords.sql)
        \(HoldingRecords.sql)
        \(SupersededValues.sql)
        \(AttachmentGarbage.sql)
        \(RowNumbering.sql)
        \(RefusedRows.sql)
        \(ReferenceRecords.sql)
        \(ClockRuns.sql)
        \(ConflictRecords.sql)
        \(Authors.sql)
        \(HeadRecords.sql)
        \(RemovedRows.sql)
        \(MassDeletions.sql)
        """ + "\n"
}
