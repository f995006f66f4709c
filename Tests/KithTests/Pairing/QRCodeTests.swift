import Testing

@testable import Kith

/// The risk: a camera does not read what the screen shows.
@Suite struct QRCodeTests {
    /// What libqrencode 4.1 draws (`qrencode -8 -l M -m 0`): the text, the mask that it chose, and the rows in hexadecimal.
    static let golden: [(String, Int, String)] = [
        (
            "A", 4,
            """
            1fda7f.104c41.174f5d.175c5d.175d5d.105e41.1fd57f.1700.1172f9.5132b.1ec67c.1c28d6.1df1c7.15c7.1fd982.104f2a.175e7f.174b2b.\
            17427c.1048d4.1fd5c5
            """
        ),
        (
            "ABCD-EFGH-IJKL-MNOP-QRST-UVWX-YZ23", 3,
            """
            1fd8e17f.105b9141.1749145d.1757615d.174a5c5d.104db741.1fd5557f.113900.16eebb4b.1b5edba.11609c76.204379a.6687216.19b96f08.\
            86496a3.1f80408b.6665c24.a9e7721.16f7e978.29dea9e.f5de5f9.16311a.1fd05552.105bd510.174111f2.175194bd.175b8145.104f345a.1fdce3b6
            """
        ),
        (
            String(repeating: "0", count: 106), 2,
            """
            1fc522f427f.10473492441.175e849245d.175a0d0bd5d.175da2f425d.10533492441.1fd5555557f.160492400.17cb8d0bd7c.faf62f4251.\
            b4bf492492.2868492492.c7d5d0bdae.1fab62f4251.349c492492.2848492492.1c6d4d0bdae.711d2f4251.1c459492492.1fba4492492.dfdcd0bdae.\
            3a9d2f4251.1c719492492.1d9ac492493.9c19d0bdaf.48712f4251.1743e492492.fad4492492.4c0d0bdae.1d8242f4251.1640e492492.17ac6492492.\
            115e1d0bdfe.19d2f4311.1fc68492752.105ff492512.1756550bdfe.175556f40a3.175e0c92450.1043bc92792.1fdb590bc9c
            """
        ),
    ]

    @Test(arguments: QRCodeTests.golden) func `another encoder draws the same`(text: String, mask: Int, rows: String) throws {
        let code = try #require(QRCode(Array(text.utf8), mask: mask))
        let drawn = (0..<code.size).map { row in
            String((0..<code.size).reduce(UInt64(0)) { $0 << 1 | (code.isDark(row: row, column: $1) ? 1 : 0) }, radix: 16)
        }
        #expect(drawn.joined(separator: ".") == rows)
    }

    @Test func `each version is used up to its limit`() {
        let limits = [(14, 21), (26, 25), (42, 29), (62, 33), (84, 37), (QRCode.bytesMax, 41)]
        for (bytes, size) in limits {
            #expect(QRCode([UInt8](repeating: 0x61, count: bytes))?.size == size)
            #expect(QRCode([UInt8](repeating: 0x61, count: bytes + 1))?.size != size)
        }
        #expect(QRCode([UInt8](repeating: 0, count: QRCode.bytesMax + 1)) == nil)
        #expect(QRCode([])?.size == 21)
    }

    @Test func `the mask that is easiest to read is taken`() throws {
        for text in ["", "A", "kith", String(repeating: "0", count: 106)] {
            let bytes = Array(text.utf8)
            let penalties = (0..<8).compactMap { QRCode(bytes, mask: $0)?.penalty }
            #expect(QRCode(bytes)?.penalty == penalties.min() && Set(penalties).count > 1)
        }
    }
}
