import Crypto

/// A SHA-256 (FIPS 180-4) of bytes that come one after the other.
package struct RunningHash {
    private var hash = SHA256()

    package init() {}

    package mutating func add(_ bytes: [UInt8]) { hash.update(data: bytes) }

    package var digest: [UInt8] { Array(hash.finalize()) }
}
