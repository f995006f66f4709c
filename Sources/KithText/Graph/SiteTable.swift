import KithCausality

/// The replicas of a graph as small numbers, and where each of their changes begins.
struct SiteTable: Sendable {
    private struct Entry: Sendable {
        let sequence: UInt64
        let start: Int
    }

    private var ids: ContiguousArray<ReplicaID> = []
    private var numbers: [ReplicaID: Int32] = [:]
    /// For each replica its changes by sequence.
    private var entries: ContiguousArray<ContiguousArray<Entry>> = []
    private var latest: Int32 = -1

    subscript(site: Int32) -> ReplicaID { ids[Int(site)] }

    /// Notes that the change `dot` begins at event `start`; the number of its replica.
    mutating func register(_ dot: Dot, start: Int) -> Int32 {
        let site = number(of: dot.replica)
        let entry = Entry(sequence: dot.sequence, start: start)
        let index = insertionIndex(of: dot.sequence, site)
        if index == entries[Int(site)].count {
            entries[Int(site)].append(entry)
        } else {
            entries[Int(site)].insert(entry, at: index)
        }
        return site
    }

    /// Notes changes of which most are older than all that are noted: as much work as there are changes of their replicas, however many
    /// come at once.
    ///
    /// - Returns: the number of the replica of each.
    mutating func registerOlder(_ changes: [TextChangeHeader]) -> [Int32] {
        var added: [Int32: ContiguousArray<Entry>] = [:]
        var sites: [Int32] = []
        sites.reserveCapacity(changes.count)
        for change in changes {
            let site = number(of: change.dot.replica)
            sites.append(site)
            added[site, default: []].append(Entry(sequence: change.dot.sequence, start: change.firstEvent))
        }
        for (site, older) in added {
            let all = older + entries[Int(site)]
            let isInOrder = zip(all, all.dropFirst()).allSatisfy { $0.sequence <= $1.sequence }
            entries[Int(site)] = isInOrder ? all : ContiguousArray(all.sorted { $0.sequence < $1.sequence })
        }
        return sites
    }

    /// Where the change `dot` begins.
    func start(of dot: Dot) -> Int? {
        let isLatest = latest >= 0 && ids[Int(latest)] == dot.replica
        guard let site = isLatest ? latest : numbers[dot.replica] else { return nil }
        let index = insertionIndex(of: dot.sequence, site)
        guard index < entries[Int(site)].count else { return nil }
        let entry = entries[Int(site)][index]
        return entry.sequence == dot.sequence ? entry.start : nil
    }

    private mutating func number(of replica: ReplicaID) -> Int32 {
        if latest >= 0, ids[Int(latest)] == replica { return latest }
        if let number = numbers[replica] {
            latest = number
            return number
        }
        latest = Int32(ids.count)
        ids.append(replica)
        numbers[replica] = latest
        entries.append([])
        return latest
    }

    /// The index of the first entry of `site` with at least this sequence; changes mostly arrive in order.
    private func insertionIndex(of sequence: UInt64, _ site: Int32) -> Int {
        let count = entries[Int(site)].count
        guard count > 0, entries[Int(site)][count - 1].sequence >= sequence else { return count }
        var low = 0
        var high = count - 1
        while low < high {
            let middle = (low + high) / 2
            if entries[Int(site)][middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
