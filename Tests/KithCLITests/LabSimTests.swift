import Foundation
import Testing

@Suite("What `kith lab sim` cannot use looks like a broken promise")
struct LabSimTests {
    private let home: KithHome

    init() throws {
        home = try KithHome()
    }

    private func sim(_ line: String) throws -> KithHome.Result {
        try home.shell("cd \"$HOME\" && \"$KITH\" lab sim \(line)")
    }

    @Test func `wrong use, files with mistakes and files that are not there have their own exit status`() throws {
        try home.write("broken.sql", Data("CREATE TABLE note (id BLOB PRIMARY KEY,".utf8))
        try home.write("none.sql", Data("CREATE TABLE note (day TEXT PRIMARY KEY);".utf8))
        try home.write("a.script", Data("nodes 2\nA: insert nosuch 1\n".utf8))
        for (line, status, part) in [
            ("--nodes 1000", 64, "from 1 to 64"), ("--frobnicate", 64, "There is no option --frobnicate"),
            ("app.sql", 64, "no argument app.sql"),
            ("--schema missing.sql", 66, "There is no file missing.sql"), ("--schema broken.sql", 65, "incomplete input"),
            ("--schema none.sql", 65, "the key day of note is TEXT"), ("--script a.script", 65, "a.script:2: there is no table nosuch"),
        ] as [(String, Int32, String)] {
            let result = try sim(line)
            #expect(result.status == status, "\(line)")
            #expect(result.error.hasPrefix("kith: ") && result.error.contains(part), "\(line): \(result.error)")
            #expect(result.output.isEmpty, "\(line)")
        }
    }

    @Test func `runs are counted, and a broken promise is 1 and comes with the command that finds it again`() throws {
        let table = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT);"
        let swallows = "CREATE TRIGGER lie BEFORE INSERT ON note BEGIN SELECT RAISE(IGNORE); END;"
        try home.write("good.sql", Data(table.utf8))
        try home.write("bad.sql", Data((table + swallows).utf8))
        let good = try sim("--schema good.sql --nodes 2 --seeds 2 --ops 10")
        #expect(good.status == 0 && good.output.contains("2 seeds of 2 nodes"))
        #expect(good.error == "Simulated: note.\n")
        let bad = try sim("--schema=bad.sql --nodes 1 --seeds 1 --ops 4 --faults none")
        #expect(bad.status == 1)
        #expect(bad.output.contains("kith lab sim --schema bad.sql --script failure.script --trace\n"), "\(bad.output)")
    }

    @Test func `the help names the command, its ways of use and its defaults`() throws {
        let help = try sim("--help")
        #expect(help.status == 0)
        for part in ["kith lab sim [--schema FILE [--update FILE]] --script FILE", "--nodes N", "up to 64 (default: 5)", "old-version"] {
            #expect(help.output.contains(part), "\(help.output)")
        }
        #expect(!help.output.contains("kith-sim"))
    }
}
