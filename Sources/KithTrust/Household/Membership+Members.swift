/// A device of a household.
package struct HouseholdMember: Hashable, Sendable {
    package let id: DeviceID
    /// What the household calls it; may be empty.
    package let name: String
    /// When it was added, by the wall clock of who added it, in milliseconds since 1970.
    package let addedMilliseconds: Int64
    /// Who added it; itself for the first one.
    package let addedBy: DeviceID
}

extension Membership {
    /// Whether `device` is a member by the records in `scope`, which must contain all those before each.
    func isMember(_ device: DeviceID, in scope: RecordSet) -> Bool {
        membership(of: device, in: scope, whichCount(in: scope)) != nil
    }

    /// The members by all that is known.
    func currentMembers() -> [HouseholdMember] {
        let scope = RecordSet(below: records.count)
        let counts = whichCount(in: scope)
        let names = names(counts)
        var members: [HouseholdMember] = []
        for device in additions.keys.sorted() {
            guard let place = membership(of: device, in: scope, counts) else { continue }
            let record = records[place]
            members.append(
                HouseholdMember(
                    id: device, name: names[device] ?? "", addedMilliseconds: record.milliseconds, addedBy: record.author))
        }
        return members
    }

    /// For each record in `scope`, whether what it adds or renames counts. (What it removes always does.)
    private func whichCount(in scope: RecordSet) -> [Bool] {
        var counts = [Bool](repeating: false, count: records.count)
        // Each record stands after those before it, on which it depends.
        for place in records.indices where scope.contains(place) {
            counts[place] = records[place].parents.isEmpty || doesCount(place, in: scope, counts)
        }
        return counts
    }

    /// Whether the author was a member by records that count, and nobody revoked it without knowing this one.
    private func doesCount(_ place: Int, in scope: RecordSet, _ counts: [Bool]) -> Bool {
        let author = records[place].author
        for removal in removals[author] ?? [] where scope.contains(removal) && removal != place {
            guard pasts[place].contains(removal) || pasts[removal].contains(place) else { return false }
        }
        return membership(of: author, in: pasts[place], counts) != nil
    }

    /// The record by which `device` is a member: one that counts and that knew of every removal. Of several the first in the order
    /// of all devices.
    private func membership(of device: DeviceID, in scope: RecordSet, _ counts: [Bool]) -> Int? {
        let removed = (removals[device] ?? []).filter { scope.contains($0) }
        let valid = (additions[device] ?? []).filter { addition in
            scope.contains(addition) && counts[addition] && removed.allSatisfy { pasts[addition].contains($0) }
        }
        return valid.min(by: isBefore)
    }

    /// The last name that each device was given.
    private func names(_ counts: [Bool]) -> [DeviceID: String] {
        var names: [DeviceID: String] = [:]
        for place in records.indices.filter({ counts[$0] }).sorted(by: isBefore) {
            let record = records[place]
            switch record.action {
            case .found(let name): names[record.author] = name
            case .add(let device, let name): names[device] = name.isEmpty ? names[device] : name
            case .rename(let device, let name): names[device] = name
            case .replace(let device): names[device] = names[record.author]
            case .revoke: break
            }
        }
        return names
    }

    /// An order that is the same everywhere and in which each record comes after those that it names.
    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (depths[left], records[left].id) < (depths[right], records[right].id)
    }
}
