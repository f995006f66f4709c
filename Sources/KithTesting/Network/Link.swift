import KithCausality
import KithSync

/// One side of one connection. What belongs to an earlier connection of the link is told apart by the epoch.
struct EndID: Hashable {
    let link: Int
    let side: Int
    let epoch: Int

    var other: EndID { EndID(link: link, side: 1 - side, epoch: epoch) }
}

/// A side of a connection that is up.
struct LinkEnd {
    var session: PeerSession
    /// What the node's router calls the session.
    let id: SessionRouter.SessionID
    /// Whether this side dialled.
    let isInitiator: Bool
    /// When the connection came about.
    let since: Int64
    /// Whom the session has met, as the router was told.
    var peer: ReplicaID?
    var outgoing = FrameCompression()
    var incoming = FrameCompression()
    /// What has arrived of the stream of bytes.
    var decoder = FrameDecoder()
    /// What this side has sent and the other has not answered.
    var window = SliceWindow()
    /// Frames on their way to this side, in order.
    var inbound: [FrameUnderWay] = []
    /// When the last of them arrives.
    var lastArrival: Int64
    var tickAt: Int64?
    /// The peer has hung up, which is noticed when all frames are in.
    var isHangingUp = false
    /// Whether the connection broke on the way here: nothing arrives behind the gap, also if what the other side receives breaks it once more.
    var isBroken = false
}

/// A frame as it was sent, and as it arrives if somebody has changed it.
struct FrameUnderWay {
    let bytes: [UInt8]
    /// The same with no vector as a difference from what was said before.
    let plain: [UInt8]
    /// What travels for it, its length in front.
    let wire: [UInt8]
    var altered: [UInt8]?
    /// Frames that arrive ahead of it, which no store has made.
    let lies: [[UInt8]]

    init(bytes: [UInt8], plain: [UInt8]? = nil, compressed: [UInt8], altered: [UInt8]?, lies: [[UInt8]] = []) {
        self.bytes = bytes
        self.plain = plain ?? bytes
        self.lies = lies
        wire = withUnsafeBytes(of: FrameDecoder.header(of: compressed).bigEndian, Array.init) + compressed
        self.altered = altered
    }
}

/// The way between two nodes, with at most one connection at a time.
struct Link {
    let nodes: [Int]
    /// Grows with every connection.
    var epoch = 0
    var ends: [LinkEnd?] = [nil, nil]
    /// The last connection on which a frame arrived that nobody had sent so.
    var damagedEpoch: Int?
    /// The last connection on which such a frame could be read.
    var liedEpoch: Int?
    /// No connection can be made.
    var isCut = false
    /// Whether what this side sends stays under way.
    var isClogged = [false, false]
    /// How many milliseconds what this side sends takes longer.
    var delays: [Int64] = [0, 0]
    /// How many frames of this side to damage.
    var damages = [0, 0]
    /// How many frames of this side to replace by others.
    var forgeries = [0, 0]
    /// How many lies this side is to tell.
    var lies = [0, 0]
    /// How many lies about the household this side is to tell.
    var recordLies = [0, 0]
    /// The last connection on which one arrived.
    var recordsLiedEpoch: Int?

    /// Whether somebody has lied on this connection, or a lie is under way.
    var carriesLies: Bool {
        liedEpoch == epoch || recordsLiedEpoch == epoch
            || ends.contains { $0?.inbound.contains { $0.altered != nil || !$0.lies.isEmpty } == true }
    }

    var isDown: Bool { ends[0] == nil && ends[1] == nil }
}
