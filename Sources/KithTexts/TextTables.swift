/// The tables that keep the history of text cells. See docs/architecture.md, "Tables".
package enum TextTables {
    package static let sql = """
        \(TextArchive.sql)
        \(ChangeRows.sql)
        \(ChunkRows.sql)
        \(MergedTexts.sql)
        \(AsideRows.sql)
        \(WaitRows.sql)
        \(PortionRows.sql)
        \(TurnRows.sql)
        """
}
