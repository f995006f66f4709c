/// A command for a person to run again.
package enum ShellLine {
    /// `words` as a shell takes them for so many words.
    package static func of(_ words: [String]) -> String {
        words.map(word).joined(separator: " ")
    }

    private static func word(_ word: String) -> String {
        let plain = { (character: Character) in
            character.isASCII && (character.isLetter || character.isNumber || "-_./+,:@%=".contains(character))
        }
        if !word.isEmpty, word.allSatisfy(plain) { return word }
        return "'" + word.replacing("'", with: #"'\''"#) + "'"
    }
}
