import Foundation
import Testing

@Suite("What is half written stays, or what somebody writes is taken away", .timeLimit(.minutes(3)))
struct LeftoverTests {
    private let home: KithHome

    init() throws {
        home = try KithHome()
        try home.kith("note", "add", "One")
        try home.shell("head -c 60000000 /dev/urandom > large && mkdir made && \"$KITH\" note attach One large")
    }

    private var made: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: home.path("made")) } }

    @Test(arguments: ["export made/folder", "export made/lines.jsonl", "backup made/backup"])
    func `what a killed command has begun goes with the next one, and what a living one writes stays`(command: String) throws {
        // It is stopped as soon as its first file is there, and killed or let go on after another command has written into the folder.
        let begun = """
            "$KITH" \(command) >/dev/null 2>&1 & pid=$!
            for try in $(seq 2000); do [ -n "$(ls -A made)" ] && break; sleep 0.001; done
            kill -STOP $pid; ls -A made
            """
        let end = "wait $pid 2>/dev/null; \"$KITH\" export made/second && ls -A made"
        let killed = try home.shell("\(begun); kill -9 $pid; \(end)")
        #expect(killed.output.split(separator: "\n").first?.hasPrefix(".kith-") == true, "\(killed.output)\(killed.error)")
        #expect(try made == ["second"])
        try home.shell("rm -r made/*")
        let living = try home.shell("\(begun); \"$KITH\" export made/second && kill -CONT $pid; wait $pid && ls -A made")
        #expect(living.status == 0, "\(living.output)\(living.error)")
        #expect(try made.count == 2 && !made.contains { $0.hasPrefix(".") })
    }

    @Test func `a backup that is refused makes no folder for notes`() throws {
        let other = try KithHome()
        try other.shell("echo damaged > bad")
        #expect(try other.kith("restore", other.path("bad")).status == 65)
        #expect(!FileManager.default.fileExists(atPath: other.store.deletingLastPathComponent().path))
    }

    @Test func `an export goes through a link to an empty folder, and not into one that holds something`() throws {
        try home.shell("mkdir empty full && touch full/mine && ln -s empty toEmpty && ln -s full toFull")
        #expect(try home.kith("export", home.path("toEmpty")).status == 0)
        #expect(FileManager.default.fileExists(atPath: home.path("empty/One.md")))
        expectFailure(try home.kith("export", home.path("toFull")), 73, "not an empty folder")
    }
}
