import Crypto

/// A short name for bytes, another one for others.
enum Checksum {
    static func text(of bytes: some Sequence<UInt8>) -> String {
        SHA256.hash(data: Array(bytes)).prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
