import Foundation
import KithSync
import KithTrust

/// What a node is doing and, when it is not synchronising, why. Part of the API: people and programs read it.
public struct NodeStatus: Codable, Hashable, Sendable {
    /// What the node is doing.
    public enum State: String, Codable, Hashable, CaseIterable, Sendable {
        /// No other device is trusted; the node neither listens nor announces itself.
        case localOnly
        /// Devices are trusted, and none can be reached.
        case waiting
        /// A device was found and is being connected.
        case connecting
        /// Rows are on their way.
        case syncing
        /// Everything is the same on all connected devices.
        case upToDate
        /// Something keeps the node from synchronising; the sentence says what.
        case stalled
        /// The node does not run: it was not started yet, or was stopped.
        case stopped
    }

    /// A trusted device.
    public struct Peer: Codable, Hashable, Sendable {
        /// How the device stands to this one.
        public enum State: String, Codable, Hashable, Sendable {
            case notReachable
            case connected
        }

        /// The device's id, in its readable form.
        public var deviceID: String
        /// What people call it; with the beginning of its id if several have this name, and empty without one.
        public var name: String
        /// How it stands to this device.
        public var state: State
        /// Where it was reached last.
        public var address: String?
        /// Name and version of its software.
        public var software: String?
        /// When both last knew the same, in milliseconds since 1970; kept over restarts of the node.
        public var lastSyncMilliseconds: Int64?
        /// Why the last connection ended or failed; kept over restarts, until the device is connected again.
        public var lastError: String?
        /// Since when it is this error, in milliseconds since 1970.
        public var lastErrorMilliseconds: Int64?
        /// Whether the error is from before the node was started.
        public var isErrorFromBefore: Bool?
        /// Whether it said that it does not trust this device, when it was reached last.
        public var isRefused: Bool?
        /// Rows on their way.
        public var rowsToSend: Int
        /// Rows that the peer has and this device lacks.
        public var rowsToReceive: Int
        /// How far large exchanges have come.
        public var sending: DeltaProgress?
        /// How far what the peer sends has come; `nil` if nothing large is on its way.
        public var receiving: DeltaProgress?
        /// Whether both know the same.
        public var isInSync: Bool
        /// Whether both held the same rows when they were last compared; `nil` if they were not yet.
        public var isIdentical: Bool?
        /// Rows that differed although both knew the same, and were mended here since it was connected; and the last of
        /// them, as `table id`.
        public var rowsMended: UInt64?
        /// The rows that were mended last, as `table id`; `nil` without any.
        public var mended: [String]?
        /// Rows that are too large to be sent to it, as `table id`; `nil` without any. All others are sent.
        public var withheld: [String]?
        /// How far its wall clock is ahead of ours, if by more than two minutes either way.
        public var clockOffsetMilliseconds: Int64?
        /// Where two machines are that use its key; `nil` if nothing says that there are two.
        public var twins: [String]?

        public init(deviceID: String, name: String) {
            self.deviceID = deviceID
            self.name = name
            state = .notReachable
            rowsToSend = 0
            rowsToReceive = 0
            isInSync = false
        }
    }

    /// What it is doing now.
    public var state: State
    /// Why it does not synchronise, or not as it should; `nil` if nothing stands in the way.
    public var reason: Reason?
    /// What it does and why, in plain words.
    public var sentence: String
    /// What a person can do about it, if anything, in words that fit any app.
    public var remedy: String?
    /// The port the node listens on.
    public var port: Int?
    /// The port on which it will listen once it trusts a device; `nil` if it listens, or does not know it yet.
    package var futurePort: Int?
    /// Whether other nodes can be found by mDNS, in plain words.
    public var mdns: String
    /// The household, in short; `nil` without one.
    public var household: String?
    /// By device id.
    public var peers: [Peer]

    public init(
        state: State, reason: Reason?, sentence: String, port: Int?, mdns: String, household: String? = nil, peers: [Peer]
    ) {
        self.state = state
        self.reason = reason
        self.sentence = sentence
        remedy = reason?.remedy
        self.port = port
        self.mdns = mdns
        self.household = household
        self.peers = peers
    }
}

extension NodeStatus {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        state = try container.decode(State.self, forKey: .state)
        // Another version may know other reasons; the sentence says it all the same.
        reason = try? container.decodeIfPresent(Reason.self, forKey: .reason)
        sentence = try container.decode(String.self, forKey: .sentence)
        remedy = try container.decodeIfPresent(String.self, forKey: .remedy)
        port = try container.decodeIfPresent(Int.self, forKey: .port)
        futurePort = try container.decodeIfPresent(Int.self, forKey: .futurePort)
        mdns = try container.decode(String.self, forKey: .mdns)
        household = try container.decodeIfPresent(String.self, forKey: .household)
        peers = try container.decode([Peer].self, forKey: .peers)
    }
}

/// Times and differences of time, for apps.
extension NodeStatus.Peer {
    /// When both last knew the same; kept over restarts of the node.
    public var lastSync: Date? { lastSyncMilliseconds.map(Date.init(milliseconds:)) }

    /// Since when ``lastError`` is what it is.
    public var lastErrorTime: Date? { lastErrorMilliseconds.map(Date.init(milliseconds:)) }

    /// How far its wall clock is ahead of ours, if by more than two minutes either way.
    public var clockOffset: Duration? { clockOffsetMilliseconds.map(Duration.milliseconds) }

    /// The device, as ``TrustStore`` and ``DeviceNames`` know it.
    public var device: DeviceID? { DeviceID(deviceID) }
}

extension Date {
    /// - Parameter milliseconds: since 1970.
    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }
}
