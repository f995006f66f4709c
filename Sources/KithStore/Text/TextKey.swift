import KithSync

/// Which cell a text is.
struct TextKey: Hashable {
    let table: Int
    let id: RowID
    let column: Int
}
