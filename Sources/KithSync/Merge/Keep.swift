import KithCausality

/// The whole merge in one rule, for anything that is named by dots: keep what both have; of what only one side has,
/// keep what the other side's vector does not cover, for what a vector covers and a state lacks was superseded.
///
/// Commutative, associative and idempotent, and needs no clock. See Bieniusa et al., "An optimized conflict-free
/// replicated set", 2012.
///
/// - Parameters:
///   - mine, theirs: sorted by dot.
///   - same: combines two entries of the same dot.
func keep<Entry>(
    _ mine: [Entry], knowing myVector: VersionVector, _ theirs: [Entry], knowing theirVector: VersionVector,
    dot: (Entry) -> Dot, same: (Entry, Entry) -> Entry = { mine, _ in mine }
) -> [Entry] {
    var result: [Entry] = []
    result.reserveCapacity(mine.count + theirs.count)
    var left = 0
    var right = 0
    while left < mine.count || right < theirs.count {
        if right == theirs.count || (left < mine.count && dot(mine[left]) < dot(theirs[right])) {
            if !theirVector.covers(dot(mine[left])) { result.append(mine[left]) }
            left += 1
        } else if left == mine.count || dot(theirs[right]) < dot(mine[left]) {
            if !myVector.covers(dot(theirs[right])) { result.append(theirs[right]) }
            right += 1
        } else {
            result.append(same(mine[left], theirs[right]))
            left += 1
            right += 1
        }
    }
    return result
}
