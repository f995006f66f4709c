import Foundation
import Kith

/// Where the page is served, and what it keeps.
public struct PageConfiguration: Sendable {
    /// The port that is taken if it is free and no other was asked for.
    public var standardPort: Int { isOnLocalNetwork ? 4781 : 4780 }

    /// The port to listen on, 0 for any that is free; `nil` for ``standardPort``, or any if that is taken.
    public var port: Int?
    /// Whether it is served to the local network, over HTTPS.
    public private(set) var isOnLocalNetwork = false
    /// A folder that nobody but the person can read: for the key of the cookies and the address of the page that runs.
    public var folder: URL
    /// The file of the notes, of which the node says how it is.
    public var notesFile: URL
    /// The folder of the device key and the trusted devices.
    public var identity: URL
    /// What the page says it is, as `0.1.0 (v0.1.0-7-g9f038a6)`.
    public var software: String
    /// Whether it looks for other machines by mDNS, to pair with them and to say what is wrong.
    public var usesDiscovery = true
    /// Bounds of what browsers may ask for.
    var limits = RequestLimits()

    /// - Parameter identity: the folder of the device key, in which the page gets one for each file of notes.
    public init(identity: URL, notesFile: URL, software: String) {
        let name = Checksum.text(of: notesFile.standardizedFileURL.resolvingSymlinksInPath().path.utf8)
        folder = identity.appending(path: "web").appending(path: name)
        self.identity = identity
        self.notesFile = notesFile
        self.software = software
    }
}

/// How much of everything a browser may take.
struct RequestLimits: Sendable {
    /// Connections at once; more wait until one of these ends.
    var connectionsMax = 256
    /// The same of one machine of the network; there is none for more.
    var connectionsOfAddressMax = 64
    /// Pages at once that are told of changes.
    var listenersMax = 64
    /// Bytes of the headers of a request.
    var headerBytesMax = 32 << 10
    /// Bytes of a change in JSON: a body of ``NoteLimits/bodyBytesMax`` in which many characters are escaped.
    var jsonBytesMax = 12 << 20
    /// How long the body of a change may take to arrive.
    var bodyMilliseconds = 20_000
    /// How long a file may stand still on its way here.
    var stillMilliseconds = 30_000
    /// How long a connection may be open on which nobody asks for anything.
    var idleSeconds: Int64 = 20
    /// How long somebody may leave unread what was sent, once there is no room for more of it.
    var unreadMilliseconds: Int64 = 30_000
    /// How long a connection outlives a refusal, for the answer to be read.
    var lingerMilliseconds: Int64 = 2_000
}

extension PageConfiguration {
    /// The trusted devices, of which there are none as long as this machine has no key.
    func trust() throws -> TrustStore {
        guard let key = try? DeviceKey.load(from: identity) else { return try TrustStore(in: identity, ownID: DeviceKey().id) }
        return try TrustStore(in: identity, ownID: key.id)
    }

    /// The same page in the local network: over HTTPS, under the addresses of this machine, with a key and browsers of its own.
    public var onLocalNetwork: PageConfiguration {
        var other = self
        other.folder = folder.appending(path: "lan")
        other.isOnLocalNetwork = true
        return other
    }

    /// Makes every browser that is known, here or in the local network, need a new address.
    ///
    /// - Throws: an error of the file system.
    public func signOutAll() throws {
        for folder in [folder, onLocalNetwork.folder] { try Doorkeeper.signOutAll(in: folder) }
    }
}
