import KithCausality

extension PeerSession {
    /// What happens to a session.
    package enum Input: Hashable, Sendable {
        /// The connection is up. The first input; `durable` is the part of the store that would survive a loss of power,
        /// `ahead` what rows of broken-off catch-ups know beyond its vector.
        case connected(
            StoreSummary, durable: VersionVector, ahead: VersionVector = VersionVector(), wallClockMilliseconds: Int64)
        /// A frame from the peer.
        case received([UInt8])
        /// The store's vector moved, whoever moved it.
        case committed(StoreSummary)
        /// Another session is about to apply a slice, whose ``Effect/apply(_:relay:)`` brought this. Before the commit is heard of.
        case relayed(Relay)
        /// The answer to ``Effect/readSlice(_:)``; `nil` if the peer lacks nothing.
        case sliceRead(Slice?)
        /// The answer to ``Effect/apply(_:relay:)``.
        case applied(ApplyOutcome)
        /// The answer to ``Effect/digest(_:)``.
        case digest(DigestResult)
        /// Another session of this node has mended rows, and the vector has not moved with it: what was found equal before may differ now.
        case mended
        /// A read or an apply failed for reasons of this machine: disk full, locked, damaged.
        case storeFailed(String)
        /// What would now survive a loss of power.
        case durable(VersionVector)
        /// Who the store is: the answer to ``Effect/verifyIdentity(_:)`` and ``Effect/renewIdentity``.
        case identity(StoreSummary)
        /// The peers of all sessions of this node that are open.
        case neighbours([ReplicaID])
        /// Something to tell the peer about the household; passed over if it cannot hear it.
        case household([UInt8])
        /// Time has passed. Due at ``PeerSession/nextDeadline``; earlier or more often does no harm. `isHearing` if bytes of the
        /// peer have come since the last time, of a frame that may not be whole yet: over a slow line one can take minutes.
        case tick(wallClockMilliseconds: Int64, isHearing: Bool = false)
        /// The node wants to end the session.
        case close(CloseReason)
    }

    /// What a session asks to be done. At most one read, one apply and one verification are under way at a time.
    package enum Effect: Hashable, Sendable {
        /// Send the peer this frame.
        case send([UInt8])
        /// Read a slice from the store and answer with ``Input/sliceRead(_:)`` or ``Input/storeFailed(_:)``.
        case readSlice(SliceRequest)
        /// Tell the node's other sessions of the relay with ``Input/relayed(_:)``, apply the slice, and answer with ``Input/applied(_:)`` or
        /// ``Input/storeFailed(_:)``.
        case apply(Slice, relay: Relay)
        /// The peer holds this commit of our replica. Let the store take a new replica id if the commit is not its own,
        /// and answer with ``Input/identity(_:)`` either way.
        case verifyIdentity(Head)
        /// Another live store bears our replica id: let the store take a new one.
        case renewIdentity
        /// The peer says something about attachments, for the node's ``AttachmentFetcher``.
        case attachment(AttachmentMessage)
        /// The peer said this about the household.
        case household([UInt8])
        /// Do this with the digest of the store, and answer with ``Input/digest(_:)``. At most one is under way at a time.
        case digest(DigestTask)
        /// How things stand with the peer has changed.
        case peer(PeerStatus)
        /// Close the connection once what was sent is out. The last effect.
        case close(CloseReason)
    }
}

/// Which other replicas a slice's sender sends the same, so that its receivers need not forward it to them at once.
package struct Relay: Hashable, Sendable {
    /// What those replicas will know.
    package let vector: VersionVector
    package let replicas: [ReplicaID]

    package init(vector: VersionVector, replicas: [ReplicaID]) {
        self.vector = vector
        self.replicas = replicas
    }
}
