import Foundation
import KithSync
import Testing

/// Risk: the format drifts, and what one version wrote another cannot read.
///
/// The files in Fixtures/golden are the format. A change that alters one needs a new protocol version.
@Suite struct GoldenVectorTests {
    @Test(arguments: FrameSamples.golden.map(\.name)) func `a golden vector decodes to its frame and encodes back to its bytes`(
        name: String
    ) throws {
        let frame = try #require(FrameSamples.golden.first { $0.name == name }?.frame)
        let bytes = try #require(Self.bytes(named: name))
        #expect(try FrameCodec.decode(bytes) == frame)
        #expect(FrameCodec.encode(frame) == bytes)
    }

    @Test func `a hello with a hash, and frames with differences, are as on file`() throws {
        var samples = FrameSamples.differences.map { ($0.name, $0.frame, FrameSamples.bases) }
        samples.append(("hello-with-hash", .hello(FrameSamples.helloWithHash), FrameSamples.bases))
        // All that its sender knows, before the receiver knows anything of it.
        let early = WireBases(sender: [], receiver: [FrameSamples.heads[0]])
        samples.append(("heads-with-differences", .heads(.all(Knowledge(heads: FrameSamples.heads))), early))
        for (name, frame, bases) in samples {
            let bytes = try #require(Self.bytes(named: name))
            #expect(try FrameCodec.decode(bytes, bases) == frame)
            #expect(FrameCodec.encode(frame, bases) == bytes)
        }
        #expect(samples.map(\.0).sorted() == Self.others)
    }

    private static let others = ["heads-with-differences", "hello-with-hash", "ping-with-differences", "slice-with-differences"]

    @Test func `every golden vector on file is tested`() throws {
        let folder = try #require(Bundle.module.url(forResource: "Fixtures/golden", withExtension: nil))
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(files == (FrameSamples.golden.map(\.name) + Self.others + [Self.compressed]).map { $0 + ".hex" }.sorted())
    }

    /// What another program compresses is other bytes, so this one is read and not written.
    @Test func `a frame compressed by another program is what it says`() throws {
        var incoming = FrameCompression()
        _ = try incoming.decompress(try #require(Self.bytes(named: "hello")))
        let bytes = try #require(Self.bytes(named: Self.compressed))
        #expect(try incoming.decompress(bytes) == Self.bytes(named: "slice-with-texts"))
        // Without the frames before it, it is nothing.
        var fresh = FrameCompression()
        #expect((try? fresh.decompress(bytes)) != Self.bytes(named: "slice-with-texts"))
    }

    private static let compressed = "slice-compressed-after-hello"

    /// The bytes of a file of hexadecimal digits, in which white space does not count.
    static func bytes(named name: String) -> [UInt8]? {
        guard let url = Bundle.module.url(forResource: "Fixtures/golden/\(name)", withExtension: "hex"),
            let text = try? String(contentsOf: url, encoding: .utf8)
        else { return nil }
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
