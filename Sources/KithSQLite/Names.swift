#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension StringProtocol {
    /// With the letters A to Z as a to z: SQLite's names are equal if these are.
    package var asciiLowercased: String {
        String(decoding: utf8.map { 65...90 ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension String {
    /// Whether the bytes of `word`, which is not empty, stand in it one after the other, before any NUL.
    ///
    /// By the C library: the standard library's search in any collection took an eighth of the time in which a store opens in a debug
    /// build.
    package func hasBytes(of word: String) -> Bool { strstr(self, word) != nil }
}
