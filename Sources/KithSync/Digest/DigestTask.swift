import KithCausality

/// What a comparison of digests asks of the store.
package enum DigestTask: Hashable, Sendable {
    /// Bring the digest further up to date and read it.
    case read
    /// Cut the rows of a range into at most ``WireLimits/digestPartsMax`` parts with about as many rows each.
    case divide(DigestRange, at: VersionVector)
    /// Sum up the rows of a range, in the parts that the peer has cut it into.
    case sum(DigestRange, [DigestPart], at: VersionVector)
    /// Read all that is known of the rows of a range, up to one slice.
    case readRows(DigestRange, at: VersionVector)
    /// Mend the rows of a range with what the peer holds of them. See ``RowState/mended(with:)``.
    case mend(DigestRange, with: Slice)
}

/// The answer to a ``DigestTask``.
package enum DigestResult: Hashable, Sendable {
    /// `nil` if there is no digest now; then `isBehind` says whether asking again brings it nearer.
    case read(StoreDigest?, isBehind: Bool)
    case parts([DigestPart])
    case sums([DigestSum])
    /// The rows of the range that the slice covers: all of them, or as far as its position says.
    case rows(Slice)
    /// What was held of these rows before, and which of them have changed.
    case mended(Slice, changed: [SlicePosition])
    /// The store no longer has the vector that the task is about, or could not do it. Nothing was changed.
    case unavailable

    /// Whether rows are others now.
    package var hasMended: Bool {
        if case .mended(_, let changed) = self { !changed.isEmpty } else { false }
    }
}
