import Foundation
import GRDB

/// How searching and sorting see text: without case and without accents.
enum TextFolding {
    /// The name of the SQL function.
    static let sqlName = "kith_notes_fold"

    static let function = DatabaseFunction(sqlName, argumentCount: 1, pure: true) { values in
        String.fromDatabaseValue(values[0]).map(fold)
    }

    static func fold(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        return text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }
}
