import Crypto
import Foundation
import Kith
import Synchronization

/// Knows which browsers may come in: whoever shows the token that is good once gets a cookie, and is known by it from then on.
///
/// The key of the cookies is a file, so that a page that is open outlives a restart of the server. Without the file no cookie is good.
final class Doorkeeper: Sendable {
    /// How long a browser is known that does not come back.
    static let cookieSeconds: Int64 = 30 * 86_400
    private static let keyBytes = 32
    private static let nonceBytes = 16

    private let keyFile: URL
    private let nowSeconds: @Sendable () -> Int64
    private let tokenHash: Mutex<SHA256Digest>
    /// Called with each new token.
    private let publish: @Sendable (String) throws -> Void

    /// - Parameter publish: leaves the token where only the person finds it.
    init(
        folder: URL, nowSeconds: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) },
        publish: @escaping @Sendable (String) throws -> Void
    ) throws {
        keyFile = folder.appending(path: "key")
        self.nowSeconds = nowSeconds
        self.publish = publish
        let token = Self.random(Self.nonceBytes).hexadecimal
        tokenHash = Mutex(SHA256.hash(data: Data(token.utf8)))
        try publish(token)
    }

    /// Takes the token, which is worth nothing afterwards, and gives a cookie for it; `nil` for a wrong one.
    func admit(token: String) throws -> String? {
        let shown = SHA256.hash(data: Data(token.utf8))
        let next = Self.random(Self.nonceBytes).hexadecimal
        let isRight = tokenHash.withLock { hash in
            guard hash == shown else { return false }
            hash = SHA256.hash(data: Data(next.utf8))
            return true
        }
        guard isRight else { return nil }
        try publish(next)
        return try makeCookie()
    }

    /// A new cookie for a browser that is known.
    func makeCookie() throws -> String {
        let key = try loadKey() ?? makeKey()
        let claim = Self.random(Self.nonceBytes).hexadecimal + "." + String(nowSeconds() + Self.cookieSeconds)
        return claim + "." + Data(HMAC<SHA256>.authenticationCode(for: Data(claim.utf8), using: key)).hexadecimal
    }

    /// Whether the cookie is one of ours; and whether half of its time is over, so that it should be followed by another.
    func check(cookie: String) -> (isGood: Bool, isOld: Bool) {
        let parts = cookie.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let end = Int64(parts[1]), let code = Data(hexadecimal: parts[2]), let key = try? loadKey() else {
            return (false, false)
        }
        let claim = Data((parts[0] + "." + parts[1]).utf8)
        guard HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: claim, using: key) else { return (false, false) }
        let (remaining, overflow) = end.subtractingReportingOverflow(nowSeconds())
        guard !overflow, remaining > 0 else { return (false, false) }
        return (true, remaining < Self.cookieSeconds / 2)
    }

    /// Makes all cookies worthless.
    static func signOutAll(in folder: URL) throws {
        do {
            try FileManager.default.removeItem(at: folder.appending(path: "key"))
        } catch CocoaError.fileNoSuchFile {}
    }

    private func loadKey() throws -> SymmetricKey? {
        guard let bytes = try? Data(contentsOf: keyFile), bytes.count == Self.keyBytes else { return nil }
        return SymmetricKey(data: bytes)
    }

    private func makeKey() throws -> SymmetricKey {
        let bytes = Self.random(Self.keyBytes)
        try PrivateText.write(bytes, to: keyFile)
        return SymmetricKey(data: bytes)
    }

    private static func random(_ count: Int) -> Data {
        SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Data($0) }
    }
}

extension Data {
    fileprivate var hexadecimal: String { map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }

    fileprivate init?(hexadecimal text: Substring) {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) else { return nil }
            bytes.append(byte)
        }
        self.init(bytes)
    }
}
