/// What two replicas say to each other about attachments.
package enum AttachmentMessage: Hashable, Sendable {
    /// Send me this piece. Answered with the piece, or with ``haveNot(_:)``.
    case want(AttachmentPiece)
    /// The outline that was asked for.
    case outline(AttachmentID, AttachmentOutline)
    /// The chunk that was asked for.
    case chunk(AttachmentID, index: Int, [UInt8])
    /// The attachment that was asked for is not here, or not whole.
    case haveNot(AttachmentID)
    /// The attachment that was once asked for in vain has come.
    case have(AttachmentID)
    /// What the sender has whole, on its disk: told when a session opens, and whenever it changes.
    case holdings(AttachmentHoldings)
}

/// What a replica says of the attachments that it has whole and on its disk.
package struct AttachmentHoldings: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// These as well.
        case also = 0
        /// These, and none of those that it told before.
        case only = 1
        /// These no longer.
        case noLonger = 2
    }

    package let kind: Kind
    /// At most ``AttachmentLimits/holdingsAtOnceMax``.
    package let ids: [AttachmentID]

    package init(_ kind: Kind, _ ids: [AttachmentID]) {
        self.kind = kind
        self.ids = ids
    }

    /// All of `ids`, however many, in place of what was told before.
    package static func all(_ ids: [AttachmentID]) -> [AttachmentHoldings] {
        let first = AttachmentHoldings(.only, Array(ids.prefix(AttachmentLimits.holdingsAtOnceMax)))
        return [first] + cut(.also, ids.dropFirst(AttachmentLimits.holdingsAtOnceMax))
    }

    /// What has changed since the last time, as few messages as possible.
    package static func changes(added: [AttachmentID], removed: [AttachmentID]) -> [AttachmentHoldings] {
        cut(.also, added[...]) + cut(.noLonger, removed[...])
    }

    private static func cut(_ kind: Kind, _ ids: ArraySlice<AttachmentID>) -> [AttachmentHoldings] {
        stride(from: ids.startIndex, to: ids.endIndex, by: AttachmentLimits.holdingsAtOnceMax).map { start in
            AttachmentHoldings(kind, Array(ids[start..<min(ids.endIndex, start + AttachmentLimits.holdingsAtOnceMax)]))
        }
    }
}

/// A part of an attachment that can be asked for.
package struct AttachmentPiece: Hashable, Sendable {
    package let id: AttachmentID
    /// The number of a chunk, from 0; `nil` for the outline.
    package let chunk: Int?

    package init(_ id: AttachmentID, chunk: Int?) {
        self.id = id
        self.chunk = chunk
    }
}
