import Foundation
import TestSupport
import Testing

/// `kith carry`, with sticks that are pulled, full or read only, and processes that are killed.
@Suite("A stick is left half written, or half of it is taken in", .timeLimit(.minutes(5)))
struct CarryCommandTests {
    private let homes: [KithHome]
    private let stick: TemporaryFolder

    init() throws {
        homes = try CarriedHousehold(2).homes
        stick = try TemporaryFolder()
    }

    private func titles(_ home: KithHome) throws -> [String] {
        let notes = try home.kith("note", "list", "--json").json() as? [[String: Any]] ?? []
        return notes.compactMap { $0["title"] as? String }.sorted()
    }

    private func lines(_ result: KithHome.Result) -> String { result.output + result.error }

    @Test func `notes go there and back, and each command says what it did`() throws {
        let (a, b) = (homes[0], homes[1])
        try a.kith("note", "add", "Shopping", "--body", "Bread")
        let out = try a.kith("carry", "out", stick.path)
        #expect(out.status == 0 && out.output.contains("1 changed row") && out.output.contains("kith carry in"), "\(lines(out))")
        let into = try b.kith("carry", "in", stick.path)
        #expect(into.status == 0 && into.output.contains("Took in 1 changed row of home0"), "\(lines(into))")
        #expect(try titles(b) == ["Shopping"])
        try b.kith("note", "edit", "Shopping", "--body", "Bread\nCoffee")
        let back = try #require(b.kith("carry", "out", stick.path, "--to", "home0", "--json").json() as? [String: Any])
        #expect((back["device"] as? String)?.hasPrefix("home0") == true && back["rows"] as? Int == 1)
        let taken = try #require(a.kith("carry", "in", stick.path, "--json").json() as? [[String: Any]])
        #expect(Set(taken.compactMap { $0["outcome"] as? String }) == ["own", "taken"])
        #expect(try a.kith("note", "show", "Shopping", "--body-only").output == "Bread\nCoffee")
        // What arrived there is known here now.
        #expect(try a.kith("status").output.contains("home1"))
    }

    @Test func `a running node takes part: what it has learned and what was carried is one store`() async throws {
        let (a, b) = (homes[0], homes[1])
        let node = try RunningNode(b, "--no-discovery", "--no-web", "--port", "0")
        try await node.wait { $0.contains("notes in") }
        for index in 0..<5 {
            try a.kith("note", "add", "Note \(index)")
            #expect(try a.kith("carry", "out", stick.path).status == 0)
            #expect(try b.kith("carry", "in", stick.path).status == 0)
            #expect(try b.kith("carry", "out", stick.path).status == 0)
            #expect(try a.kith("carry", "in", stick.path).status == 0)
        }
        #expect(try titles(b).count == 5)
        #expect(try await node.stop(SIGTERM) == 0)
        #expect(try b.kith("verify").status == 0)
    }

    @Test func `an attachment whose last step was interrupted comes all the same`() throws {
        let (a, b) = (homes[0], homes[1])
        try a.kith("note", "add", "Trip")
        try a.kith("note", "attach", "Trip", a.write("photo.jpg", Data("a photo".utf8)))
        try a.kith("carry", "out", stick.path)
        // All of it has come, and can no longer be written, and has not got its name yet.
        let made = try a.shell(
            """
            cd \(a.path("store")) && f=$(find . -path './*-files/??/*' -name '*[0-9a-f]') && mkdir -p \(b.path("store"))/"${f%/*}" &&
            cp "$f" \(b.path("store"))/"$f.part" && chmod -R go= \(b.path("store")) && chmod 400 \(b.path("store"))/"$f.part"
            """)
        #expect(made.status == 0, "\(lines(made))")
        // A superuser may write everything, unless he gives that up.
        let user = getuid() == 0 ? "setpriv --bounding-set=-dac_override,-dac_read_search " : ""
        let into = try b.shell("\(user)\"$KITH\" carry in \(stick.path)")
        #expect(into.status == 0, "\(lines(into))")
        #expect(try b.kith("note", "save", "Trip", "photo.jpg", "--output", "-").output == "a photo")
    }

    @Test func `failures have words and a status of their own`() throws {
        let (a, b) = (homes[0], homes[1])
        let alone = try KithHome()
        try alone.kith("device", "id")
        expectFailure(try alone.kith("carry", "out", stick.path), 65, "household", "kith pair")
        expectFailure(try alone.kith("carry", "in", stick.path), 65, "household")
        for place in ["none/", "none"] { expectFailure(try a.kith("carry", "out", stick.file(place)), 73, "no folder", "Is the stick in?") }
        expectFailure(try a.kith("carry", "in", stick.path), 66, "kith carry out")
        expectFailure(try a.kith("carry", "in", stick.file("none")), 66, "Is the stick in?")
        expectFailure(try a.kith("carry", "out", stick.path, "--to", "nobody"), 66)
        try a.kith("note", "add", "One")
        try a.kith("carry", "out", stick.file("file.kithcarry"))
        var bytes = try Data(contentsOf: stick.url("file.kithcarry"))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: stick.url("file.kithcarry"))
        let refused = try b.kith("carry", "in", stick.path)
        #expect(refused.status == 65 && refused.output.contains("damaged"), "\(lines(refused))")
        #expect(try titles(b).isEmpty)
        // A stick that was pulled out too early.
        for beginning in [Data(), bytes.prefix(4), Data(count: 4_096)] {
            try beginning.write(to: stick.url("file.kithcarry"))
            let cut = try b.kith("carry", "in", stick.path)
            #expect(cut.status == 65 && cut.output.contains("file.kithcarry is damaged, or breaks off"), "\(lines(cut))")
        }
        try FileManager.default.removeItem(at: stick.url("file.kithcarry"))
        #expect(try a.kith("carry", "out", stick.file("file.kithcarry")).status == 0)
        try FileManager.default.createSymbolicLink(atPath: b.path("link"), withDestinationPath: stick.file("file.kithcarry"))
        let taken = try b.kith("carry", "in", b.path("link"))
        #expect(taken.status == 0, "\(lines(taken))")
        #expect(try titles(b) == ["One"])
    }

    @Test func `a file of another household beside its own is nothing for a machine, and does not hide what is`() throws {
        let (a, b, stranger) = (homes[0], homes[1], try CarriedHousehold(2).homes[0])
        for home in [a, stranger] {
            try home.kith("note", "add", "One")
            #expect(try home.kith("carry", "out", stick.path).status == 0)
        }
        let own = try a.kith("carry", "in", stick.path)
        #expect(own.status == 65 && own.error.contains("Nothing there is for this machine."), "\(lines(own))")
        let taken = try b.kith("carry", "in", stick.path)
        #expect(try taken.status == 0 && titles(b) == ["One"], "\(lines(taken))")
    }

    @Test func `the files that were not taken in are counted, each for its reason`() throws {
        let (a, b, stranger) = (homes[0], homes[1], try CarriedHousehold(2).homes[0])
        for home in [a, stranger] { try home.kith("carry", "out", stick.path) }
        try Data("no file any more".utf8).write(to: stick.url("damaged.kithcarry"))
        let read = try b.kith("carry", "in", stick.path)
        #expect(
            read.status == 65 && read.error.contains("Of 3 files, 1 could not be taken in, 1 is not for this machine."), "\(lines(read))")
    }

    @Test func `who has left its household hears that it carries nothing out, and why`() throws {
        try homes[0].kith("household", "leave")
        expectFailure(try homes[0].kith("carry", "out", stick.path), 65, "no file", "kith pair")
    }

    @Test func `what a backup lacks and the stick has comes back before the file is replaced, and that is said`() throws {
        let (a, b) = (homes[0], homes[1])
        try a.kith("note", "add", "Old")
        try a.kith("backup", a.path("backup.kith"))
        try a.kith("note", "add", "New")
        try a.kith("carry", "out", stick.path)
        for name in try FileManager.default.contentsOfDirectory(atPath: a.path("store")) {
            try FileManager.default.removeItem(atPath: a.path("store/\(name)"))
        }
        let restored = try a.kith("restore", a.path("backup.kith"))
        #expect(try restored.status == 0 && titles(a) == ["Old"], "\(lines(restored))")
        let out = try a.kith("carry", "out", stick.path)
        #expect(out.status == 0 && out.output.contains("took in") && out.error.contains("-earlier-1"), "\(lines(out))")
        #expect(try b.kith("carry", "in", stick.path).status == 0)
        #expect(try titles(a) == ["New", "Old"] && titles(b) == ["New", "Old"])
        // What cannot be read is kept, and named.
        let names = try FileManager.default.contentsOfDirectory(atPath: stick.path)
        let name = try #require(names.first { !$0.contains("-earlier-") })
        var bytes = try Data(contentsOf: stick.url(name))
        bytes[20] ^= 1
        try bytes.write(to: stick.url(name))
        let kept = try #require(a.kith("carry", "out", stick.path, "--json").json() as? [String: Any])
        #expect((kept["kept"] as? [String])?.count == 1 && kept["rowsTakenBack"] as? Int == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: stick.path).count == 3)
    }

    @Test func `killed while it writes: the stick holds the file before or the new one, and no other`() throws {
        let (a, b) = (homes[0], homes[1])
        for index in 0..<10 { try a.kith("note", "add", "Note \(index)", "--body", String(repeating: "x", count: 80_000)) }
        try a.kith("carry", "out", stick.path)
        for milliseconds in stride(from: 20, through: 200, by: Soak.count(30, soaking: 2)) {
            try a.kith("note", "add", "Later \(milliseconds)")
            let kill = String(format: "%.3f", Double(milliseconds) / 1_000)
            try a.shell("\"$KITH\" carry out '\(stick.path)' & sleep \(kill); kill -9 $!; wait $! 2>/dev/null; true")
            let read = try b.kith("carry", "in", stick.path)
            #expect(read.status == 0, "after \(milliseconds) ms: \(lines(read))")
        }
        try a.kith("carry", "out", stick.path)
        #expect(try b.kith("carry", "in", stick.path).status == 0)
        #expect(try titles(a) == titles(b))
        // What the dead have left behind is gone.
        #expect(try FileManager.default.contentsOfDirectory(atPath: stick.path).count == 1)
    }

    @Test func `killed while it reads: what came is whole, and reading again goes on`() throws {
        let (a, b) = (homes[0], homes[1])
        let folder = a.folder.appending(path: "vault")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for index in 0..<600 { try Data("Text \(index)".utf8).write(to: folder.appending(path: "Note \(index).md")) }
        #expect(try a.kith("import", folder.path).status == 0)
        try a.kith("carry", "out", stick.path)
        for milliseconds in stride(from: 20, through: 500, by: Soak.count(120, soaking: 5)) {
            let kill = String(format: "%.3f", Double(milliseconds) / 1_000)
            try b.shell("\"$KITH\" carry in '\(stick.path)' & sleep \(kill); kill -9 $!; wait $! 2>/dev/null; true")
            // One that was killed at once has made no file.
            let isThere = FileManager.default.fileExists(atPath: b.store.path)
            #expect(try b.kith("verify").status == (isThere ? 0 : 66), "after \(milliseconds) ms")
        }
        #expect(try b.kith("carry", "in", stick.path).status == 0)
        #expect(try titles(b).count == titles(a).count && titles(b) == titles(a))
        // Nothing is left of the copies.
        let left = try FileManager.default.contentsOfDirectory(atPath: b.path("store")).filter { $0.hasPrefix(".kith-carry") }
        #expect(left.isEmpty)
    }

    @Test(.enabled(if: FullDiskTests.canMount))
    func `a stick that is full, or read only, keeps what was on it, and is read all the same`() throws {
        let (a, b) = (homes[0], homes[1])
        try a.kith("note", "add", "Small")
        for index in 0..<12 {
            try a.kith("note", "add", "Large \(index)", "--body", String((0..<60_000).map { _ in "abcdefgh".randomElement() ?? "a" }))
        }
        try a.script(
            "stick.sh",
            """
            mkdir -p stick && mount -t tmpfs -o size=1m tmpfs stick
            "$KITH" carry out stick >out 2>&1; echo "first $?"
            dd if=/dev/zero of=stick/fill bs=1k 2>/dev/null
            before=$(sha256sum stick/*.kithcarry)
            "$KITH" note add Another >/dev/null
            "$KITH" carry out stick >out 2>&1; echo "full $?"; cat out
            [ "$before" = "$(sha256sum stick/*.kithcarry)" ] && echo same
            [ -z "$(ls -A stick | grep part)" ] && echo clean
            mount -o remount,ro stick
            "$KITH" carry out stick >out 2>&1; echo "readonly $?"; cat out
            KITH_HOME=\(b.folder.path) "$KITH" carry in stick >out 2>&1; echo "in $?"; cat out
            """)
        let output = try a.shell("unshare -m sh stick.sh").output
        #expect(output.contains("first 0"), "\(output)")
        #expect(output.contains("full 74") && output.contains("no room left"), "\(output)")
        #expect(output.contains("same") && output.contains("clean"), "\(output)")
        #expect(output.contains("readonly 73") && output.contains("read only"), "\(output)")
        #expect(output.contains("in 0"), "\(output)")
        #expect(try titles(b).count == 13)
    }

    @Test(.enabled(if: FullDiskTests.canMount))
    func `a machine whose own disk is full takes nothing in by halves`() throws {
        let (a, b) = (homes[0], homes[1])
        for index in 0..<12 {
            try a.kith("note", "add", "Large \(index)", "--body", String((0..<60_000).map { _ in "abcdefgh".randomElement() ?? "a" }))
        }
        try a.kith("carry", "out", stick.path)
        try b.script(
            "full.sh",
            """
            mkdir disk && mount -t tmpfs -o size=3m tmpfs disk && cp -r keys disk/
            export KITH_HOME=$PWD/disk
            "$KITH" note add Own >/dev/null; echo "own $?"
            dd if=/dev/zero of=disk/fill bs=1k count=2200 2>/dev/null
            "$KITH" carry in '\(stick.path)' >out 2>&1; echo "in $?"; cat out
            "$KITH" verify >/dev/null 2>&1; echo "verify $?"
            rm disk/fill
            "$KITH" carry in '\(stick.path)' >out 2>&1; echo "again $?"; cat out
            "$KITH" note list | wc -l
            """)
        let output = try b.shell("unshare -m sh full.sh").output
        #expect(output.contains("own 0") && output.contains("in 74"), "\(output)")
        #expect(output.contains("verify 0") && output.contains("again 0"), "\(output)")
    }
}
