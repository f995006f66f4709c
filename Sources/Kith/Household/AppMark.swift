import KithSync
import KithTrust

/// What an announcement carries so that devices of the same app find each other, and no others: another one with each announcement.
///
/// Eight random bytes, then the first eight of SHA-256(label ‖ random bytes ‖ app). Who knows what an app is called can find out whether this
/// is it; nobody can tell two announcements of one app from those of one device.
struct AppMark {
    /// The attribute that carries it.
    static let attribute = "a"
    static let saltBytes = 8
    static let byteCount = 16
    private static let label = Array("kith app 1\n".utf8)

    let bytes: [UInt8]

    init(of app: AppID) {
        var random = SystemRandomNumberGenerator()
        self.init(of: app, salt: (0..<Self.saltBytes).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    init(of app: AppID, salt: [UInt8]) {
        bytes = salt + PairingHash.sha256(Self.label + salt + app.bytes).prefix(Self.byteCount - salt.count)
    }

    /// Whether these bytes are what a device of `app` announces.
    static func isMark(_ bytes: [UInt8]?, of app: AppID) -> Bool {
        guard let bytes, bytes.count == byteCount else { return false }
        return AppMark(of: app, salt: Array(bytes.prefix(saltBytes))).bytes == bytes
    }
}
