import TestSupport
import Testing

@testable import KithDiscovery

@Suite("Names from the network are junk until shown otherwise")
struct InstanceNameTests {
    @Test func `63 bytes are a name, none and 64 are not`() {
        #expect(InstanceName(bytes: []) == nil)
        #expect(InstanceName(bytes: [UInt8](repeating: 0x61, count: InstanceName.bytesMax)) != nil)
        #expect(InstanceName(bytes: [UInt8](repeating: 0x61, count: InstanceName.bytesMax + 1)) == nil)
    }

    @Test(arguments: [[0xFF], [0xC3], [0x61, 0x00], [0x0A], [0x61, 0x1B, 0x5B], [0xC2, 0x85]])
    func `broken UTF-8 and control characters are no name`(bytes: [UInt8]) {
        #expect(InstanceName(bytes: bytes) == nil)
    }

    @Test func `names that look alike and differ in bytes are two names`() throws {
        let composed = try #require(InstanceName(bytes: "\u{E9}".utf8))
        let decomposed = try #require(InstanceName(bytes: "e\u{301}".utf8))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test func `a random name has 16 letters and digits, depends on chance alone, and is a name`() {
        var generator = SplitMix64(seed: 1)
        let names = (0..<1000).map { _ in InstanceName.random(using: &generator) }
        #expect(Set(names).count == 1000)
        for name in names {
            #expect(name.bytes.count == 16)
            #expect(InstanceName(bytes: name.bytes) == name)
        }
        var again = SplitMix64(seed: 1)
        #expect(InstanceName.random(using: &again) == names[0])
    }
}
