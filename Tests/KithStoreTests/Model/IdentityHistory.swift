import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport

/// Random lives of a few machines whose stores are copied, restored, rolled back and lose power, with an account of every
/// note that anybody ever wrote and of who still holds it.
final class IdentityHistory {
    private let seed: UInt64
    private var random: SplitMix64
    private let folder: TemporaryFolder
    private var machines: [Machine] = []
    private var nextNote: UInt64 = 1
    private var nextMachine = 0
    /// What each dot named when it was made.
    private var contents: [Dot: UInt64] = [:]
    private(set) var newReplicaCount = 0

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// A state of a store's files, and the notes in it.
    private struct Snapshot {
        let files: [String: Data]
        let notes: Set<UInt64>
    }

    private final class Machine {
        let name: String
        var boot = 1
        var session: (database: DatabasePool, store: SyncedDatabase)?
        var notes: Set<UInt64> = []
        /// What a stop of the machine cannot take away.
        var durable: Snapshot?
        var backups: [Snapshot] = []

        init(_ name: String) {
            self.name = name
        }
    }

    private static let suffixes = ["", "-wal", "-kith"]

    init(seed: UInt64) throws {
        self.seed = seed
        random = SplitMix64(seed: seed)
        folder = try TemporaryFolder()
        for _ in 0..<3 { machines.append(newMachine()) }
    }

    func run(steps: Int) throws {
        for _ in 0..<steps { try step() }
        for _ in machines { for left in machines { for right in machines where left !== right { try synchronise(left, right) } } }
        let expected = machines.reduce(into: Set<UInt64>()) { $0.formUnion($1.notes) }
        for machine in machines {
            let shown = try notes(machine)
            if shown != expected {
                throw Failure(
                    description:
                        "seed \(seed): \(machine.name) lacks \(expected.subtracting(shown).sorted()), has beyond \(shown.subtracting(expected).sorted())"
                )
            }
            let problems = try open(machine).store.verify().problems
            if !problems.isEmpty { throw Failure(description: "seed \(seed): \(machine.name): \(problems)") }
            try close(machine)
        }
    }

    // MARK: What happens

    private func step() throws {
        let machine = machines[Int.random(in: 0..<machines.count, using: &random)]
        switch Int.random(in: 0..<100, using: &random) {
        case ..<40: try write(machine)
        case ..<70:
            let other = machines[Int.random(in: 0..<machines.count, using: &random)]
            if other !== machine { try synchronise(machine, other) }
        case ..<76: try close(machine)
        case ..<80: try kill(machine)
        case ..<85: try stop(machine)
        case ..<90: try backUp(machine)
        case ..<94: try restore(machine)
        case ..<97: try copyToNewMachine(machine)
        default: try rollBack(machine)
        }
    }

    private func write(_ machine: Machine) throws {
        let (database, store) = try open(machine)
        let note = nextNote
        nextNote += 1
        try database.write { try $0.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(note)]) }
        machine.notes.insert(note)
        let summary = try store.summary()
        let dot = Dot(replica: summary.replica, sequence: summary.vector[summary.replica])
        if let other = contents.updateValue(note, forKey: dot) {
            throw Failure(description: "seed \(seed): \(machine.name) gave \(dot) to note \(note), which was note \(other)'s")
        }
        if Bool.random(using: &random) { try makeDurable(machine) }
    }

    /// Both say hello, then each receives what it lacks, as two nodes do.
    private func synchronise(_ left: Machine, _ right: Machine) throws {
        let (a, b) = (try open(left).store, try open(right).store)
        try greet(a, b)
        try greet(b, a)
        try deliver(from: a, to: b)
        try deliver(from: b, to: a)
        left.notes.formUnion(right.notes)
        right.notes = left.notes
        // What is acknowledged is durable.
        try makeDurable(left)
        try makeDurable(right)
    }

    private func greet(_ store: SyncedDatabase, _ peer: SyncedDatabase) throws {
        let summary = try store.summary()
        guard let head = try peer.summary().head(of: summary.replica) else { return }
        if try store.verifyIdentity(head).replica != summary.replica { newReplicaCount += 1 }
    }

    private func deliver(from sender: SyncedDatabase, to receiver: SyncedDatabase) throws {
        guard case .applied = try receiver.apply(try sender.delta(since: try receiver.vector())) else {
            throw Failure(description: "seed \(seed): refused")
        }
    }

    private func makeDurable(_ machine: Machine) throws {
        _ = try open(machine).store.makeDurable()
        machine.durable = try snapshot(machine)
    }

    private func kill(_ machine: Machine) throws {
        try close(machine)
        try markUnclean(machine)
    }

    /// The machine loses power: it has what was brought to the disk, or more, but no clean mark.
    private func stop(_ machine: Machine) throws {
        guard machine.session != nil else { return machine.boot += 1 }
        try close(machine)
        if let durable = machine.durable, Bool.random(using: &random) {
            for suffix in ["", "-wal"] { try put(durable.files[suffix], path(machine) + suffix) }
            machine.notes = durable.notes
        }
        try markUnclean(machine)
        machine.boot += 1
    }

    private func backUp(_ machine: Machine) throws {
        if machine.session != nil, Bool.random(using: &random) { try close(machine) }
        machine.backups.append(try snapshot(machine))
    }

    /// The database, and sometimes the file beside it, is put back from a backup.
    private func restore(_ machine: Machine) throws {
        guard let backup = machine.backups.randomElement(using: &random), backup.files[""] != nil else { return }
        try close(machine)
        for suffix in ["", "-wal"] { try put(backup.files[suffix], path(machine) + suffix) }
        // With the file beside it, nothing tells that this is a backup if it was made while the store was open.
        machine.notes = backup.notes
    }

    private func copyToNewMachine(_ machine: Machine) throws {
        if machines.count >= 6 { return }
        let twin = newMachine()
        let copy = try snapshot(machine)
        for suffix in Self.suffixes where suffix != "-kith" || Bool.random(using: &random) {
            try put(copy.files[suffix], path(twin) + suffix)
        }
        twin.notes = copy.notes
        machines.append(twin)
    }

    /// The whole machine goes back to a snapshot of its disks, and meets everybody before it is written to.
    private func rollBack(_ machine: Machine) throws {
        guard let index = machine.backups.indices.randomElement(using: &random) else { return }
        let backup = machine.backups[index]
        guard backup.files[""] != nil else { return }
        machine.backups.removeSubrange(index...)
        try close(machine)
        for suffix in Self.suffixes { try put(backup.files[suffix], path(machine) + suffix) }
        machine.notes = backup.notes
        for other in machines where other !== machine { try synchronise(machine, other) }
        // What it had written since the snapshot and told nobody never was, and its numbers are free again.
        let alive = machines.reduce(into: Set<UInt64>()) { all, machine in
            all.formUnion(machine.notes)
            for backup in machine.backups { all.formUnion(backup.notes) }
        }
        contents = contents.filter { alive.contains($0.value) }
    }

    // MARK: Files and sessions

    private func newMachine() -> Machine {
        nextMachine += 1
        return Machine("machine\(nextMachine)")
    }

    private func path(_ machine: Machine) -> String { folder.file(machine.name) }

    private func open(_ machine: Machine) throws -> (database: DatabasePool, store: SyncedDatabase) {
        if let session = machine.session { return session }
        let database = try DatabasePool(path: path(machine))
        try database.write { try $0.execute(sql: TestStore.noteSQL) }
        var options = TestStore.options()
        options.host = HostIdentity(machine: machine.name, boot: "\(machine.boot)")
        let store = try SyncedDatabase(database, tables: [TestStore.note], options: options)
        if store.identityDoubt != nil { newReplicaCount += 1 }
        machine.session = (database, store)
        return (database, store)
    }

    private func close(_ machine: Machine) throws {
        guard let session = machine.session else { return }
        session.store.close()
        try session.database.close()
        machine.session = nil
        machine.durable = try snapshot(machine)
    }

    private func notes(_ machine: Machine) throws -> Set<UInt64> {
        let keys = try open(machine).database.read { try Data.fetchAll($0, sql: "SELECT id FROM note") }
        return Set(keys.compactMap { RowID(bytes: $0)?.low })
    }

    private func snapshot(_ machine: Machine) throws -> Snapshot {
        var files: [String: Data] = [:]
        for suffix in Self.suffixes { files[suffix] = FileManager.default.contents(atPath: path(machine) + suffix) }
        return Snapshot(files: files, notes: machine.notes)
    }

    /// Writes into the file that is there, which keeps its inode.
    private func put(_ data: Data?, _ path: String) throws {
        guard let data else {
            try? FileManager.default.removeItem(atPath: path)
            return
        }
        if !FileManager.default.fileExists(atPath: path) { _ = FileManager.default.createFile(atPath: path, contents: nil) }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: data)
        try file.close()
    }

    private func markUnclean(_ machine: Machine) throws {
        guard let data = FileManager.default.contents(atPath: path(machine) + "-kith") else { return }
        let text = String(decoding: data, as: UTF8.self)
        try put(Data(text.replacing("\"isClean\" : true", with: "\"isClean\" : false").utf8), path(machine) + "-kith")
    }
}
