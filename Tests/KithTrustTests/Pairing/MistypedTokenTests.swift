import KithTrust
import TestSupport
import Testing

/// The risk: somebody copies a token by hand, gets a character wrong, and uses up an attempt or learns nothing about it.
@Suite struct MistypedTokenTests {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")

    private func tokens(_ count: Int) -> [PairingToken] {
        var random = SplitMix64(seed: 21)
        return (0..<count).map { _ in PairingToken.random(using: &random) }
    }

    @Test func `the readable form of a known token never changes`() throws {
        let token = try #require(PairingToken(bytes: (0..<16).map { UInt8($0) }))
        #expect(token.text.hasPrefix("AAAQ-EAYE-AUDA-OCAJ-BIFQ-YDIO-B4"))
        #expect(token.text.utf8.count == 34)
        #expect(PairingToken(bytes: [1, 2, 3]) == nil)
    }

    @Test func `every token reads back however it is typed`() throws {
        for token in tokens(1_000) {
            let text = token.text
            let spoken = text.replacing("O", with: "0").replacing("I", with: "1").replacing("B", with: "8")
            for form in [text, text.lowercased(), text.replacing("-", with: ""), spoken, " \(text.replacing("-", with: " \u{2013} "))\n"] {
                #expect(try PairingToken(parsing: form) == token)
            }
        }
    }

    @Test func `every wrong character and every swap is noticed`() {
        for token in tokens(20) {
            let text = Array(token.text.replacing("-", with: ""))
            for place in text.indices {
                for other in Self.alphabet where other != text[place] {
                    var wrong = text
                    wrong[place] = other
                    #expect(throws: PairingTokenError.mistyped) { try PairingToken(parsing: String(wrong)) }
                }
                for second in text.indices where text[second] != text[place] {
                    var wrong = text
                    wrong.swapAt(place, second)
                    #expect(throws: PairingTokenError.mistyped) { try PairingToken(parsing: String(wrong)) }
                }
            }
        }
    }

    @Test func `every two wrong characters are noticed`() throws {
        var random = SplitMix64(seed: 22)
        let text = Array(try #require(tokens(1).first).text.replacing("-", with: ""))
        for first in text.indices {
            for second in text.indices where second > first {
                for _ in 0..<20 {
                    var wrong = text
                    wrong[first] = Self.alphabet[Int.random(in: 0..<32, using: &random)]
                    wrong[second] = Self.alphabet[Int.random(in: 0..<32, using: &random)]
                    if wrong == text { continue }
                    #expect(throws: PairingTokenError.mistyped) { try PairingToken(parsing: String(wrong)) }
                }
            }
        }
    }

    @Test func `what is missing or foreign is said`() throws {
        let text = try #require(tokens(1).first).text
        #expect(throws: PairingTokenError.length(found: 27)) { try PairingToken(parsing: String(text.dropLast())) }
        #expect(throws: PairingTokenError.length(found: 29)) { try PairingToken(parsing: text + "A") }
        #expect(throws: PairingTokenError.length(found: 0)) { try PairingToken(parsing: "") }
        #expect(throws: PairingTokenError.character("9")) { try PairingToken(parsing: "9" + text.dropFirst()) }
        let padded = text + String(repeating: " ", count: PairingToken.textBytesMax - text.utf8.count)
        #expect(try PairingToken(parsing: padded).text == text)
        #expect(throws: PairingTokenError.length(found: PairingToken.textBytesMax + 1)) { try PairingToken(parsing: padded + " ") }
    }

    @Test func `a token does not show itself in logs`() throws {
        let token = try #require(tokens(1).first)
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped] {
            #expect(!text.contains(token.text) && !text.contains("\(token.bytes[0]),"))
        }
    }
}
