import ArgumentParser
import Foundation
import Testing

@testable import KithCLI

/// Risk: a person who follows the help is told that there is no such command.
@Suite struct HelpTests {
    @Test func `each example of the help is a command with arguments that it takes`() {
        let examples = Self.examples(of: KithCommand.self)
        #expect(examples.count > 100)
        for example in examples {
            let arguments = Self.words(of: example)
            do {
                try KithCommand.checkName(arguments.first)
                _ = try KithCommand.parseAsRoot(arguments)
            } catch {
                Issue.record("\(example): \(KithCommand.message(for: error))")
            }
        }
    }

    @Test func `an example is read as a shell reads it`() {
        let line = "date | kith note add \"Some day\" --body - '|' | cat        a remark"
        #expect(
            Self.examples(in: "EXAMPLES\n  \(line)\n\n  kith").map(Self.words) == [["note", "add", "Some day", "--body", "-", "|"], []])
    }

    private static func examples(of command: any ParsableCommand.Type) -> [String] {
        examples(in: command.configuration.discussion) + command.configuration.subcommands.flatMap(examples(of:))
    }

    private static func examples(in discussion: String) -> [String] {
        let lines = discussion.split(separator: "\n").drop { $0 != "EXAMPLES" }.dropFirst()
        return lines.prefix { $0.hasPrefix("  ") }.compactMap { line in
            line.firstRange(of: /\bkith\b(?!\S)/).map { String(line[$0.upperBound...]) }
        }
    }

    /// The words of a command up to a pipe, a file or a remark, which is three spaces away.
    private static func words(of command: String) -> [String] {
        var (words, word, quote) = ([String](), String?.none, Character?.none)
        var spaces = 0
        for character in command + " " {
            if character == quote {
                quote = nil
            } else if quote != nil {
                word?.append(character)
            } else if character == "\"" || character == "'" {
                (quote, word) = (character, word ?? "")
            } else if character == " " {
                spaces = word == nil ? spaces + 1 : 1
                if let ended = word { words.append(ended) }
                word = nil
                if spaces == 3 { break }
            } else if word == nil, "|>".contains(character) {
                break
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words
    }
}
