import Foundation
import GRDB

/// A word of the notes as the list of words has it: to be found by a part of it. The index finds words by their beginning alone.
enum IndexWord {
    /// What is beyond is left out: what has no spaces may be of any length.
    static let bytesMax = 200
    /// Words that are looked for in place of a part of them, the shortest first.
    static let wordsMax = 200

    /// Adds the words of a text: what lies between spaces and punctuation, in small letters. It may be several words to the index, never a
    /// part of one.
    static func insert(of value: DatabaseValue, into words: inout Set<String>) {
        guard let text = String.fromDatabaseValue(value) else { return }
        for word in Self.words(of: text) { words.insert(word) }
    }

    /// The words of a text one after the other.
    static func words(of text: String) -> [String] {
        var text = text
        return text.withUTF8 { bytes in
            var words: [String] = []
            var start = 0
            func end(at place: Int) {
                if place > start { words.append(word(bytes[start..<place])) }
            }
            var place = 0
            while place < bytes.count {
                let width = separatorWidth(bytes, at: place)
                if width == 0 {
                    place += 1
                    continue
                }
                end(at: place)
                place += width
                start = place
            }
            end(at: place)
            return words
        }
    }

    private static func word(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        var bytes = bytes
        if bytes.count > bytesMax {
            var end = bytes.startIndex + bytesMax
            // Not within a character.
            while end > bytes.startIndex, bytes[end] & 0xC0 == 0x80 { end -= 1 }
            bytes = bytes[..<end]
        }
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }

    /// How many bytes the space or the mark of punctuation has that stands here; 0 if none does. Not all of them are known: more is then one word.
    private static func separatorWidth(_ bytes: UnsafeBufferPointer<UInt8>, at place: Int) -> Int {
        let byte = bytes[place]
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: return 0
        case 0..<0x80: return 1
        // U+00A0, U+00AB, U+00B7, U+00BB.
        case 0xC2 where place + 1 < bytes.count: return [0xA0, 0xAB, 0xB7, 0xBB].contains(bytes[place + 1]) ? 2 : 0
        case 0xE2 where place + 2 < bytes.count:
            // U+2000 to U+206F.
            return bytes[place + 1] == 0x80 || bytes[place + 1] == 0x81 && bytes[place + 2] < 0xB0 ? 3 : 0
        case 0xE3 where place + 2 < bytes.count:
            // U+3000 to U+3002, U+300C to U+300F.
            return bytes[place + 1] == 0x80 && [0x80, 0x81, 0x82, 0x8C, 0x8D, 0x8E, 0x8F].contains(bytes[place + 2]) ? 3 : 0
        default: return 0
        }
    }

    /// Enters words into the list that it does not have.
    static func enter(_ words: Set<String>, listed: inout Set<String>, _ db: Database) throws {
        let enter = try db.cachedStatement(sql: "INSERT OR IGNORE INTO note_search_word VALUES (?, ?)")
        for word in words where !listed.contains(word) {
            try enter.execute(arguments: key(of: word))
            listed.insert(word)
        }
    }

    /// Takes words from the list that no note has any more. Of very many some stay, as they do in the index itself.
    static func leave(_ words: Set<String>, listed: inout Set<String>, _ db: Database) throws {
        let look = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM note_search WHERE note_search MATCH ?)")
        let leave = try db.cachedStatement(sql: "DELETE FROM note_search_word WHERE folded = ? AND word = ?")
        for word in words.prefix(leavingMax) where try Bool.fetchOne(look, arguments: [match(word)]) == false {
            try leave.execute(arguments: key(of: word))
            listed.remove(word)
        }
    }

    private static let leavingMax = 1_000

    /// As it is looked for, and as it is written if that is something else.
    private static func key(of word: String) -> StatementArguments {
        let folded = TextFolding.fold(word)
        return [folded, folded.utf8.elementsEqual(word.utf8) ? "" : word]
    }

    /// For the index: a word that was cut off is found by its beginning.
    private static func match(_ word: String) -> String {
        "\"\(word)\"" + (word.utf8.count > bytesMax - 4 ? "*" : "")
    }

    /// What the index is asked for notes in which a part of a word occurs; `nil` if no word has it. If it has signs between, such as
    /// `ample.org`, words count that end with what comes before the first one.
    ///
    /// - Parameter notesMax: more notes need not be found.
    static func match(partly part: String, notesMax: Int, _ db: Database) throws -> String? {
        let pieces = words(of: part)
        guard let first = pieces.first.map(TextFolding.fold) else { return nil }
        let condition = pieces.count == 1 ? "instr(folded, ?1) > 0" : "substr(folded, -length(?1)) = ?1"
        let words = try String.fetchAll(
            db,
            sql: "SELECT iif(word = '', folded, word) FROM note_search_word WHERE \(condition) ORDER BY length(folded), folded LIMIT ?2",
            arguments: [first, wordsMax])
        let rest = pieces.dropFirst().map { " " + $0 }.joined()
        let count = try db.cachedStatement(sql: "SELECT count(*) FROM (SELECT 1 FROM note_search WHERE note_search MATCH ? LIMIT ?)")
        var matches: [String] = []
        var notes = 0
        for word in words where notes < notesMax {
            let match = rest.isEmpty ? match(word) : "\"\(word)\(rest)\"*"
            let found = try Int.fetchOne(count, arguments: [match, notesMax - notes]) ?? 0
            if found > 0 { matches.append(match) }
            notes += found
        }
        return matches.isEmpty ? nil : "(" + matches.joined(separator: " OR ") + ")"
    }
}
