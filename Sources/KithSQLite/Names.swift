extension StringProtocol {
    /// With the letters A to Z as a to z: SQLite's names are equal if these are.
    package var asciiLowercased: String {
        String(decoding: utf8.map { 65...90 ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
