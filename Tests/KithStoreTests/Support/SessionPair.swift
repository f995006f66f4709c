import KithStore
import KithSync

/// Two stores in one process whose sessions talk to each other without a network, in virtual time.
final class SessionPair {
    private let stores: [SyncedDatabase]
    private let limits: SliceLimits
    private var sessions: [PeerSession]
    private(set) var statuses: [PeerStatus?] = [nil, nil]
    /// How often a side said that both know the same while its store lacked commits of the other.
    private(set) var falselyInSyncCount = 0
    /// How far large exchanges were said to have come, by side, in order.
    private(set) var sending: [[DeltaProgress]] = [[], []]
    private(set) var receiving: [[DeltaProgress]] = [[], []]
    private(set) var closings: [CloseReason] = []
    /// Questions about digests and rows that were sent.
    private(set) var questionCount = 0
    /// How often a side read its digest to compare it.
    private(set) var digestReadCount = 0
    /// Bytes of frames that each side has sent, as they travel.
    private(set) var bytesSent = [0, 0]
    private var compressions = [FrameCompression(), FrameCompression()]
    private var now = Instant(milliseconds: 0)
    private var inputs: [(side: Int, input: PeerSession.Input)] = []
    /// Slices that are read, and until when that takes.
    private let readingMilliseconds: Int64
    private var readings: [(due: Instant, side: Int, request: SliceRequest)] = []

    /// - Parameters:
    ///   - areProven: whether each store, which speaks for a device, proves what it sends.
    ///   - readingMilliseconds: so long it takes to read a slice.
    init(
        _ first: SyncedDatabase, _ second: SyncedDatabase, limits: SliceLimits = SliceLimits(), areProven: Bool = false,
        readingMilliseconds: Int64 = 0,
        _ configure: (inout PeerSession.Configuration) -> Void = { _ in }
    ) throws {
        stores = [first, second]
        self.limits = limits
        self.readingMilliseconds = readingMilliseconds
        sessions = stores.map { store in
            var configuration = PeerSession.Configuration(app: "test", group: [], software: "test")
            if areProven { configuration.proofs = store.proofBook }
            configure(&configuration)
            return PeerSession(configuration)
        }
        for (side, store) in stores.enumerated() {
            try handle(.connected(store.summary(), durable: store.vector(), ahead: store.ahead(), wallClockMilliseconds: 0), side)
        }
        try settle()
    }

    /// Lets time pass, in which sessions do what is due.
    func wait(seconds: Int64) throws {
        for _ in 0..<(seconds * 2) {
            now = now.advanced(byMilliseconds: 500)
            for reading in readings where reading.due <= now { try read(reading.request, reading.side) }
            readings.removeAll { $0.due <= now }
            for side in 0...1 { inputs.append((side, .tick(wallClockMilliseconds: now.milliseconds))) }
            try settle()
        }
    }

    /// Both hear that the stores may have committed.
    func hear() throws {
        for (side, store) in stores.enumerated() { inputs.append((side, .committed(try store.summary()))) }
        try settle()
    }

    private func settle() throws {
        while !inputs.isEmpty {
            let (side, input) = inputs.removeFirst()
            try handle(input, side)
        }
    }

    private func read(_ request: SliceRequest, _ side: Int) throws {
        inputs.append((side, .sliceRead(try stores[side].slice(request, limits: limits))))
    }

    private func handle(_ input: PeerSession.Input, _ side: Int) throws {
        for effect in sessions[side].handle(input, now: now) {
            switch effect {
            case .send(let bytes):
                if bytes.frameType == 145 { questionCount += 1 }
                let isUnderstood = sessions[side].capabilities.contains(.compression)
                bytesSent[side] += 4 + compressions[side].compress(bytes, isUnderstood: isUnderstood).count
                inputs.append((1 - side, .received(bytes)))
            case .readSlice(let request) where readingMilliseconds > 0:
                readings.append((now.advanced(byMilliseconds: readingMilliseconds), side, request))
            case .readSlice(let request): try read(request, side)
            case .apply(let slice, _): inputs.append((side, .applied(try stores[side].apply(slice))))
            case .digest(let task):
                if case .read = task { digestReadCount += 1 }
                inputs.append((side, .digest(try stores[side].perform(task))))
                inputs.append((side, .committed(try stores[side].summary())))
            case .verifyIdentity(let claim): inputs.append((side, .identity(try stores[side].verifyIdentity(claim))))
            case .peer(let status):
                statuses[side] = status
                if status.isInSync, try !stores[side].vector().covers(stores[1 - side].vector()) { falselyInSyncCount += 1 }
                if let progress = status.sending { sending[side].append(progress) }
                if let progress = status.receiving { receiving[side].append(progress) }
            case .close(let reason): closings.append(reason)
            case .renewIdentity, .attachment, .household: break
            }
        }
    }
}
