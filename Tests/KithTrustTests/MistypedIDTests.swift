import KithTrust
import TestSupport
import Testing

/// The risk: somebody types an id by hand, gets a character wrong, and trusts nobody or the wrong device.
@Suite struct MistypedIDTests {
    private func ids(_ count: Int) throws -> [DeviceID] {
        var random = SplitMix64(seed: 1)
        return try (0..<count).map { _ in try #require(DeviceID(bytes: random.bytes(32))) }
    }

    @Test func `the readable form of a known ID never changes`() throws {
        let id = try #require(DeviceID(bytes: (0..<32).map { UInt8($0) }))
        #expect(id.description == golden)
        #expect(try DeviceID(parsing: golden) == id)
        #expect(id.shortDescription == String(golden.prefix(11)))
    }

    private let golden = "AAAQE-EAYEP-AUDAZ-OCAJR-BIFQ3-YDIO5-B4IBG-CEQT5-CQKRW-MFYYT-DENBS-WHA5H-DYPQZ"

    @Test func `every ID reads back from its readable form`() throws {
        let edges = try [UInt8(0), 0xFF].map { try #require(DeviceID(bytes: [UInt8](repeating: $0, count: 32))) }
        for id in try ids(1000) + edges {
            #expect(id.description.utf8.count == 77)
            #expect(try DeviceID(parsing: id.description) == id)
        }
    }

    @Test func `case spaces dashes and confused digits do not matter`() throws {
        for id in try ids(200) {
            let text = id.description
            let spoken = text.replacing("O", with: "0").replacing("I", with: "1").replacing("B", with: "8")
            for form in [
                text.lowercased(), text.replacing("-", with: ""), text.replacing("-", with: "  "), spoken,
                text.replacing("-", with: "\u{2013}"), "\n\t " + text + "\r\n",
            ] {
                #expect(try DeviceID(parsing: form) == id)
            }
        }
    }

    @Test func `every single wrong character is found in its group`() throws {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        for id in try ids(3) {
            let text = Array(id.description)
            for (index, right) in text.enumerated() where right != "-" {
                for wrong in alphabet where wrong != right {
                    var typed = text
                    typed[index] = wrong
                    #expect(throws: DeviceIDError.mistyped(groups: [index / 6 + 1])) { try DeviceID(parsing: String(typed)) }
                }
            }
        }
    }

    @Test func `every swap of two characters in a group is found`() throws {
        for id in try ids(50) {
            let text = Array(id.description)
            for group in 0..<13 {
                for first in 0..<5 {
                    for second in 0..<first where text[group * 6 + first] != text[group * 6 + second] {
                        var typed = text
                        typed.swapAt(group * 6 + first, group * 6 + second)
                        #expect(throws: DeviceIDError.mistyped(groups: [group + 1])) { try DeviceID(parsing: String(typed)) }
                    }
                }
            }
        }
    }

    @Test func `every swap of two groups is found`() throws {
        for id in try ids(50) {
            let groups = id.description.split(separator: "-")
            for first in 0..<13 {
                for second in 0..<first where groups[first] != groups[second] {
                    var typed = groups
                    typed.swapAt(first, second)
                    #expect(throws: DeviceIDError.mistyped(groups: [second + 1, first + 1])) {
                        try DeviceID(parsing: typed.joined(separator: "-"))
                    }
                }
            }
        }
    }

    @Test func `an error says what is wrong and where`() throws {
        let text = try ids(1)[0].description
        let groups = text.split(separator: "-")
        #expect(throws: DeviceIDError.empty) { try DeviceID(parsing: " - ") }
        #expect(throws: DeviceIDError.length(found: 64)) { try DeviceID(parsing: String(text.replacing("-", with: "").dropLast())) }
        #expect(throws: DeviceIDError.length(found: 60)) { try DeviceID(parsing: groups.dropLast().joined(separator: "-")) }
        var short = groups
        short[6] = short[6].dropLast()
        #expect(throws: DeviceIDError.groupLength(group: 7, found: 4)) { try DeviceID(parsing: short.joined(separator: "-")) }
        var odd = groups
        odd[2] = "AB9CD"
        #expect(throws: DeviceIDError.character(group: 3, found: "9")) { try DeviceID(parsing: odd.joined(separator: "-")) }
        odd[2] = "ABéCD"
        #expect(throws: DeviceIDError.character(group: 3, found: "é")) { try DeviceID(parsing: odd.joined(separator: "-")) }
        #expect("\(DeviceIDError.mistyped(groups: [3]))".contains("Group 3"))
        #expect("\(DeviceIDError.mistyped(groups: [3, 9]))".contains("Groups 3, 9"))
    }

    @Test func `text is read up to its limit and refused beyond`() throws {
        let id = try ids(1)[0]
        let padding = String(repeating: " ", count: DeviceID.textBytesMax - id.description.utf8.count)
        #expect(try DeviceID(parsing: id.description + padding) == id)
        #expect(throws: DeviceIDError.length(found: DeviceID.textBytesMax + 1)) {
            try DeviceID(parsing: id.description + padding + " ")
        }
    }

    @Test func `no text crashes the reader`() throws {
        var random = SplitMix64(seed: 7)
        let pieces = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567 -\u{2014}018\u{301}\0\n🏠é")
        var accepted = 0
        for _ in 0..<10_000 {
            let length = Int.random(in: 0...90, using: &random)
            let text = String((0..<length).compactMap { _ in pieces.randomElement(using: &random) })
            if (try? DeviceID(parsing: text)) != nil { accepted += 1 }
        }
        #expect(accepted == 0)
    }

    @Test func `only thirty two bytes are an ID`() {
        #expect(DeviceID(bytes: [UInt8](repeating: 1, count: 31)) == nil)
        #expect(DeviceID(bytes: [UInt8](repeating: 1, count: 32)) != nil)
        #expect(DeviceID(bytes: [UInt8](repeating: 1, count: 33)) == nil)
    }
}
