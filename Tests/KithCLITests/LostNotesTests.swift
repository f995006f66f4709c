import Foundation
import GRDB
import Testing

@Suite("Notes that are gone are called safe, or well, or an empty file takes their place", .timeLimit(.minutes(2)))
struct LostNotesTests {
    private let home: KithHome

    init() throws {
        home = try KithHome()
        try home.kith("note", "add", "Only here")
    }

    @Test(arguments: ["rm -f", "truncate -s 0"]) func `every command says so, and makes nothing`(how: String) throws {
        try home.shell("\(how) \(home.store.path)")
        let commands = [
            "note list", "note add x", "note show x", "verify", "up", "trash list", "conflicts list", "doctor --size", "note search x",
        ]
        for command in commands {
            expectFailure(try home.shell("\"$KITH\" \(command)"), 65, "The notes are gone", "kith recover")
        }
        let status = try home.kith("status")
        #expect(status.status == 65 && status.output.hasPrefix("The notes are gone"), "\(status.output)")
        #expect(!status.output.contains("other devices, too") && !status.output.contains("safe"))
        #expect((try home.kith("status", "--json").json() as? [String: Any])?["isLost"] as? Bool == true)
        #expect(try home.kith("doctor", "--no-discovery").output.hasPrefix("WRONG The notes are gone"))
        #expect(try home.kith("device", "list").error.contains("The notes are gone"))
        #expect(FileManager.default.fileExists(atPath: home.store.path) == (how != "rm -f"))
        let choices = try home.kith("recover")
        #expect(choices.status == 65 && choices.output.contains("backup") && choices.output.contains("--refill"), "\(choices.output)")
    }

    @Test(arguments: ["mv $KITH_HOME/store there; ln -s store $KITH_HOME/store", "chmod 000 $KITH_HOME/store"])
    func `a folder that cannot be entered says nothing of the notes`(how: String) throws {
        try home.shell(how)
        // A superuser enters every folder, unless he gives that up.
        let user = getuid() == 0 ? "setpriv --bounding-set=-dac_override,-dac_read_search " : ""
        for command in ["note list", "note add x", "status", "doctor", "recover", "snapshot s", "restore b", "up", "device list"] {
            expectFailure(try home.shell("\(user)\"$KITH\" \(command)"), 66, "Nothing is known of the notes", "cannot be looked at")
        }
        #expect(try home.shell("\(user)\"$KITH\" device id").status == 0)
    }

    @Test func `what a person chose is done: a new file, or a backup`() throws {
        try home.shell("cp \(home.store.path) backup; truncate -s 0 \(home.store.path)")
        let refilled = try home.kith("recover", "--refill", "--json")
        #expect(refilled.status == 0, "\(refilled.error)")
        let aside = try #require((refilled.json() as? [String: Any])?["setAside"] as? [String])
        #expect(aside.count == 1 && aside[0].contains("notes.sqlite.lost-") && FileManager.default.fileExists(atPath: aside[0]))
        #expect(try home.kith("note", "list").output.isEmpty)
        // A file that is there is not given up by a slip of the fingers.
        #expect(try home.kith("recover", "--refill").status == 64)
        #expect(try home.kith("recover").status == 0)
        try home.shell("rm \(home.store.path); cp backup \(home.store.path)")
        #expect(try home.kith("note", "list").output.contains("Only here"))
        #expect(try home.kith("verify").status == 0)
    }

    @Test func `a damaged file is put aside, and one that never was ours is left where it is`() throws {
        try home.shell("printf 'no database, but some text' > \(home.store.path)")
        expectFailure(try home.kith("note", "list"), 65, "The notes' file is damaged", "kith recover")
        #expect(try home.kith("recover").status == 65)
        #expect(try home.kith("recover", "--refill").status == 0)
        #expect(try home.kith("note", "add", "New").status == 0)
        let letter = try home.write("letter.txt", Data("a letter, which is no database".utf8))
        expectFailure(try home.kith("recover", "--refill", "--store", letter), 65, "not an SQLite database")
        #expect(FileManager.default.contents(atPath: letter)?.isEmpty == false)
    }

    @Test func `a file whose beginning names an unknown format is damaged, and a backup takes its place`() throws {
        try home.shell("\"$KITH\" backup b && printf '\\0\\0\\0\\11' | dd of=\(home.store.path) bs=1 seek=44 conv=notrunc 2>/dev/null")
        for command in ["verify", "note list"] {
            expectFailure(try home.shell("\"$KITH\" \(command)"), 65, "kith recover")
        }
        let recovered = try home.kith("recover", "--restore", home.path("b"))
        #expect(recovered.status == 0, "\(recovered)")
        #expect(try home.kith("verify").status == 0)
    }

    @Test func `a file that is damaged where no list looks is known by verify, and a backup takes its place`() throws {
        for command in ["recover", "recover --refill", "recover --restore b"] {
            #expect(try home.shell("\"$KITH\" \(command)").status == (command == "recover" ? 0 : 64))
        }
        try home.shell("echo attached >a.txt && \"$KITH\" note attach 'Only here' a.txt && \"$KITH\" backup b && \"$KITH\" note add Later")
        let damaged = try home.shell(
            """
            python3 -c "
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1])
            page = db.execute('SELECT rootpage FROM sqlite_master WHERE name = \\'kith_dot\\'').fetchone()[0]
            size = db.execute('PRAGMA page_size').fetchone()[0]
            db.close()
            with open(sys.argv[1], 'r+b') as file:
                file.seek((page - 1) * size)
                file.write(b'\\xff' * size)
            " \(home.store.path)
            """)
        #expect(damaged.status == 0, "\(damaged.error)")
        #expect(try home.kith("note", "list").status == 0)
        let verified = try home.kith("verify")
        #expect(verified.status == 65 && verified.error.contains("kith recover"), "\(verified)")
        #expect(try home.kith("verify", "--json").json() is [String: Any])
        let choices = try home.kith("recover")
        #expect(choices.status == 65 && choices.output.contains("kith recover --restore FILE"), "\(choices)")
        let problems = (try home.kith("recover", "--json").json() as? [String: Any])?["problems"] as? [String]
        #expect(problems?.isEmpty == false)
        expectFailure(try home.kith("restore", home.path("b")), 73, "kith recover")
        expectFailure(try home.kith("recover", "--restore", home.path("nothing")), 66, "no file")
        try home.write("no-backup", Data("text".utf8))
        #expect(try home.kith("recover", "--restore", home.path("no-backup")).status == 65)
        #expect(FileManager.default.fileExists(atPath: home.store.path))
        let restored = try home.kith("recover", "--restore", home.path("b"))
        #expect(restored.status == 0 && restored.output.contains("notes.sqlite.lost-"), "\(restored)")
        #expect(restored.output.hasSuffix("Restored 1 note with 1 attachment to \(home.store.path).\n"), "\(restored)")
        #expect(try home.kith("verify").status == 0)
        #expect(try home.kith("note", "save", "Only here", "a.txt", "--output", "-").output == "attached\n")
        #expect(try home.kith("note", "list").output.contains("Only here"))
    }

    @Test func `a backup is restored beside the log of notes that were lost, and not while they are open`() throws {
        try home.kith("backup", home.path("b"))
        for number in 0..<40 { try home.kith("note", "add", "After \(number)", "--body", String(repeating: "x", count: 3_000)) }
        let pool = try DatabasePool(path: home.store.path)
        try pool.write { try $0.execute(sql: "CREATE TABLE later (x); INSERT INTO later SELECT randomblob(100000)") }
        try home.shell("cp \(home.store.path)-wal wal")
        try pool.close()
        try home.shell("rm \(home.store.path); cp wal \(home.store.path)-wal")
        let lock = try home.shell("flock --shared --nonblock \(home.store.path)-kith-lock \"$KITH\" restore \(home.path("b"))")
        #expect(lock.status == 75 && lock.error.contains("still has the store"), "\(lock)")
        let restored = try home.kith("restore", home.path("b"))
        #expect(restored.status == 0 && restored.error.contains("What was left of the notes"), "\(restored)")
        #expect(try home.kith("verify").status == 0)
        #expect(try home.kith("note", "list").output.contains("Only here"))
        #expect(try home.kith("note", "add", "Afterwards").status == 0)
    }

    @Test func `a node whose notes are deleted keeps a copy of them, and ends`() async throws {
        let node = try RunningNode(home, "--no-discovery")
        try await node.wait { $0.contains("Local only") }
        try home.shell("rm \(home.store.path)*")
        #expect(try await node.end() == 65)
        try home.shell("mv \(home.store.path).rescued-* \(home.store.path)")
        #expect(try home.kith("note", "list").output.contains("Only here"))
        #expect(try home.kith("verify").status == 0)
    }

    @Test func `a node whose notes are exchanged for others keeps a copy of them, and ends`() async throws {
        let node = try RunningNode(home, "--no-discovery")
        try await node.wait { $0.contains("Local only") }
        try home.shell("mkdir away; mv \(home.store.path)* away/; \"$KITH\" note add Other >&2")
        #expect(try await node.end() == 65)
        #expect(node.output.contains("Others are there now."), "\(node.output)")
        #expect(try home.kith("note", "list").output.contains("Other"))
        try home.shell("rm \(home.store.path) \(home.store.path)-*; mv \(home.store.path).rescued-* \(home.store.path)")
        #expect(try home.kith("note", "list").output.contains("Only here"))
        #expect(try home.kith("verify").status == 0)
    }

    @Test func `a backup is restored where a list has made an empty file, and a mistyped path makes none`() throws {
        try home.kith("backup", home.path("b"))
        let other = try KithHome()
        expectFailure(try other.kith("recover", "--refill"), 66, "There are no notes", "kith restore")
        #expect(try other.kith("note", "list").status == 0)
        try #require(FileManager.default.fileExists(atPath: other.store.path))
        let restored = try other.kith("restore", home.path("b"), "--json").json() as? [String: Any]
        #expect(restored?["notes"] as? Int == 1 && (restored?["bytes"] as? Int ?? 0) > 1_000, "\(restored ?? [:])")
        #expect(try other.kith("note", "list").output.contains("Only here"))
        expectFailure(try other.kith("restore", home.path("b")), 73, "There are notes")
        for command in ["note list", "note search x", "export out", "verify", "folder list", "note rm x"] {
            expectFailure(try home.shell("\"$KITH\" \(command) --store \(home.path("typo.sqlite"))"), 66, "There is no file", "typo.sqlite")
        }
        #expect(!FileManager.default.fileExists(atPath: home.path("typo.sqlite")))
        #expect(try home.kith("note", "add", "New", "--store", home.path("typo.sqlite")).status == 0)
    }

    @Test func `another machine brings the notes back`() async throws {
        let other = try KithHome()
        try home.kith("device", "add", other.kith("device", "id").lastLine, "--name", "other")
        let node = try RunningNode(home, "--no-discovery", "--port", "0", "--json")
        var port: Int?
        try await node.wait { output in
            port = output.matches(of: /"port":(\d+)/).last.flatMap { Int($0.1) }
            return port != nil
        }
        try other.kith("device", "add", home.kith("device", "id").lastLine, "--address", "127.0.0.1:\(try #require(port))")
        let second = try RunningNode(other, "--no-discovery", "--port", "0")
        try await second.wait { _ in try other.kith("note", "list").output.contains("Only here") }
        #expect(try await second.stop(SIGTERM) == 0)
        try other.shell("rm -f \(other.store.path) \(other.store.path)-wal")
        try #require(!FileManager.default.fileExists(atPath: other.store.path))
        let early = try RunningNode(other, "--no-discovery", "--port", "0")
        #expect(try await early.end() == 65)
        #expect(try other.kith("recover", "--refill").status == 0)
        let third = try RunningNode(other, "--no-discovery", "--port", "0")
        try await third.wait { _ in try other.kith("note", "list").output.contains("Only here") }
        #expect(try await third.stop(SIGTERM) == 0)
        #expect(try await node.stop(SIGTERM) == 0)
    }
}
