import Foundation
import KithTrust

/// Something that a node does, from its beginning to its end; see ``Node/events``.
public struct NodeEvent: Hashable, Sendable {
    /// What it does.
    public enum Kind: String, Hashable, CaseIterable, Sendable {
        /// It starts: takes the right to synchronise the file, and lets the store speak for this device.
        case setup
        /// It looks for devices by mDNS. Each announcement that is heard is progress.
        case discover
        /// It has a connection with a device, or tries to: begun when it is dialled or has dialled, progress when both have said who they
        /// are.
        case connect
        /// It takes rows from a device, until it has all that the device has.
        case receive
        /// It sends rows to a device, until that has all.
        case send
        /// Rows that arrived gave cells concurrent values, which wait for a choice.
        case conflict
        /// It removes for good what was deleted long ago and no device needs any more.
        case garbage
    }

    /// How far it has come.
    public enum Phase: Hashable, Sendable {
        case began
        case progress
        case ended
        /// It ended for this reason, and is tried again where that makes sense.
        case failed(String)
    }

    /// What it does.
    public let kind: Kind
    /// How far it has come.
    public let phase: Phase
    /// The same for all events of one operation, and for no other of this node object.
    public let operation: UInt64
    /// The other device, where there is one.
    public let peer: DeviceID?
    /// Rows since the beginning.
    public let rows: Int
    /// Bytes on the network since the beginning.
    public let bytes: Int
    /// When it happened, by the wall clock.
    public let time: Date
    /// How long it has taken since the beginning.
    public let elapsed: Duration
}
