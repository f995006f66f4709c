import Foundation
import Testing

/// A picture as a PNG file.
struct Picture {
    let width: Int
    let height: Int
    /// How much there is to see: plain surfaces pack to almost nothing.
    let bytes: Int

    /// - Throws: if this is no PNG file. (https://www.w3.org/TR/png-3/: eight bytes, then a chunk with the size.)
    init(png: Data) throws {
        try #require(png.count > 24 && png.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        func number(at offset: Int) -> Int { png.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | Int($1) } }
        (width, height, bytes) = (number(at: 16), number(at: 20), png.count)
    }
}
