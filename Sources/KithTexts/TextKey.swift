import KithCausality
import KithLedger
import KithSQLite
import KithSync

/// Which cell a text is, and which document of it.
package struct TextKey: Hashable {
    package let table: Int
    package let id: RowID
    package let column: Int
    /// 0, or the number of a text that was found.
    package var document: Int64 = 0

    package init(table: Int, id: RowID, column: Int, document: Int64 = 0) {
        self.table = table
        self.id = id
        self.column = column
        self.document = document
    }

    /// Reads table, id, column and document, the first columns of a result.
    init(_ select: PreparedStatement) throws {
        guard let id = RowID(bytes: select.blob(1)) else { throw TextArchive.corrupt }
        self.init(table: select.int(0), id: id, column: select.int(2), document: select.integer(3))
    }

    /// Binds table, id, column and document, from 1 on.
    func bind(to statement: PreparedStatement) {
        statement.bind(1, table)
        statement.bind(2, id)
        statement.bind(3, column)
        statement.bind(4, document)
    }

    /// Where the text is made anew, until it takes the place of what is there.
    var beside: TextKey { TextKey(table: table, id: id, column: column, document: ~document) }

    /// The same cell's document that `state` speaks of.
    package func of(_ state: TextState) -> TextKey {
        TextKey(table: table, id: id, column: column, document: state.document)
    }
}
