import KithSync

/// Which cell a text is, and which document of it.
struct TextKey: Hashable {
    let table: Int
    let id: RowID
    let column: Int
    /// 0, or the number of a text that was found.
    var document: Int64 = 0

    /// The same cell's document that `state` speaks of.
    func of(_ state: TextState) -> TextKey {
        TextKey(table: table, id: id, column: column, document: state.document)
    }
}
