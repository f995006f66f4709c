import Foundation
import GRDB
import TestSupport
import Testing

@Suite("Files cannot be brought in or out from the command line")
struct FilesCommandTests {
    private let home: KithHome

    init() throws {
        home = try KithHome()
    }

    @Test("a folder is imported, exported and imported elsewhere, and says what it did")
    func roundTrip() throws {
        try home.shell(
            "mkdir -p vault/sub && printf 'text\\n' > vault/One.md && printf 'see ![](p.png)' > vault/sub/Two.md && printf png > vault/sub/p.png"
        )
        try home.shell("printf '\\377' > vault/bad.md")
        let dry = try home.kith("import", home.path("vault"), "--dry-run")
        #expect(dry.status == 0 && dry.output == "Would import 2 notes, with 1 attachment, 1 left out.\n", "\(dry.output)\(dry.error)")
        #expect(dry.error.hasPrefix("bad.md: ") && dry.error.contains("UTF-8"))
        let done = try home.kith("import", home.path("vault"), "--tag", "#new", "--folders-as-tags", "--json").json() as? [String: Any]
        #expect(done?["added"] as? Int == 2 && done?["attachments"] as? Int == 1 && done?["leftOut"] as? Int == 1)
        #expect(try home.kith("note", "list", "--tag", "sub").output.contains("Two"))
        #expect(try home.kith("import", home.path("vault")).output.contains("Imported 0 notes, 2 were here already"))

        let written = try home.kith("export", home.path("out"))
        #expect(written.output == "Wrote 2 notes to \(home.path("out")), with 1 attachment.\n", "\(written.output)\(written.error)")
        #expect(try home.kith("export", home.path("out.jsonl")).status == 0)
        #expect(try home.kith("export", home.path("site"), "--format", "site").status == 0)
        #expect(FileManager.default.fileExists(atPath: home.path("site/index.html")))
        let other = home.path("other.sqlite")
        #expect(try home.kith("import", home.path("out"), "--store", other).output == "Imported 2 notes, with 1 attachment.\n")
        #expect(try home.kith("import", home.path("out.jsonl"), "--store", other).output.contains("2 were here already"))
        expectFailure(try home.kith("export", home.path("out")), 73, "not an empty folder")
        expectFailure(try home.kith("import", home.path("nothing")), 66, "no file or folder")
    }

    @Test("notes whose dates have no zone are imported once, in whichever zone the machine is")
    func zones() throws {
        try home.shell("mkdir days && printf -- '---\\ncreated: 2021-01-31\\n---\\nx' > days/a.md")
        let outputs = try ["Europe/Berlin", "America/New_York", "UTC"].map { zone in
            try home.shell("\"$KITH\" import days", environment: ["TZ": zone]).output
        }
        let again = "Imported 0 notes, 1 was here already.\n"
        #expect(outputs == ["Imported 1 note.\n", again, again])
    }

    @Test("an import that keeps no folders or notebooks says so once, and names the option")
    func folders() throws {
        let hint = "--folders-as-tags"
        try home.shell("mkdir -p vault/work/deep flat && touch flat/One.md && touch vault/Top.md vault/work/A.md vault/work/deep/B.md")
        let dry = try home.kith("import", home.path("vault"), "--dry-run")
        #expect(
            dry.error == "2 notes are in folders or notebooks, which are not kept; \(hint) makes a tag of them.\n", "\(dry.error)")
        let done = try home.kith("import", home.path("vault"), "--json").json() as? [String: Any]
        #expect(done?["inFolders"] as? Int == 2)
        #expect(try home.kith("import", home.path("flat")).error == "")
        #expect(try !home.kith("import", home.path("vault"), hint).error.contains(hint))
        try home.shell("mkdir jex && printf 'Box\n\nid: %s\ntype_: 2' $(printf 'a%.0s' $(seq 32)) > jex/$(printf 'a%.0s' $(seq 32)).md")
        try home.shell(
            "printf 'Note\n\nbody\n\nid: %s\nparent_id: %s\ntype_: 1' $(printf 'b%.0s' $(seq 32)) $(printf 'a%.0s' $(seq 32)) > jex/$(printf 'b%.0s' $(seq 32)).md"
        )
        let joplin = try home.kith("import", home.path("jex"))
        #expect(joplin.error == "1 note is in folders or notebooks, which are not kept; \(hint) makes a tag of them.\n", "\(joplin.error)")
    }

    @Test("a backup is made, sealed and restored, and a wrong passphrase opens nothing")
    func backup() throws {
        let id = try home.kith("note", "add", "Kept", "--body", "text").lastLine
        let sealed = try home.kith("backup", home.path("s"), "--passphrase", input: "correct horse battery\n")
        #expect(sealed.status == 0 && sealed.output.hasSuffix("sealed).\n"), "\(sealed.output)\(sealed.error)")
        let made = try home.kith("backup", home.path("b"))
        #expect(made.status == 0 && made.output.hasPrefix("Backed up 1 note to \(home.path("b")) ("), "\(made.output)\(made.error)")
        expectFailure(try home.kith("restore", home.path("b")), 73, "already")
        let other = home.path("other/notes.sqlite")
        expectFailure(try home.kith("restore", home.path("s"), "--store", other, input: "short\n"), 65, "passphrase")
        #expect(try home.kith("restore", home.path("b"), "--store", other).status == 0)
        #expect(try home.kith("note", "show", id, "--body-only", "--store", other).output == "text")
        #expect(try home.kith("verify", "--store", other).status == 0)
    }

    @Test func `a passphrase is the same in each form of its accents, and is refused if its letters cannot be read`() throws {
        let words = "pass\u{E9} \u{D1}and\u{FA} tr\u{E8}s"
        try home.kith("note", "add", "Kept")
        try home.kith("device", "id")
        #expect(try home.kith("backup", home.path("s"), "--passphrase", input: "\(words)\n").status == 0)
        #expect(try home.kith("device", "export", "d", input: "\(words)\n").status == 0)
        let other = try KithHome()
        for folder in [home, other] { try folder.write("word", Data("\(words.decomposedStringWithCanonicalMapping)\n".utf8)) }
        #expect(try other.shell("\"$KITH\" restore \(home.path("s")) < word").status == 0)
        #expect(try other.shell("\"$KITH\" device import \(home.path("d")) < word").status == 0)
        expectFailure(try other.shell("printf 'pass\\351 and others\\n' | \"$KITH\" backup --passphrase b"), 65, "not UTF-8")
        #expect(!FileManager.default.fileExists(atPath: other.path("b")))
    }

    @Test(
        "a backup that is made while a node runs, and notes and files are added, is as of one moment and lacks nothing",
        .timeLimit(.minutes(5)))
    func backupWhileWriting() async throws {
        let node = try RunningNode(home, "--no-discovery", "--port", "0", "--no-web")
        try await node.wait { _ in try home.kith("status", "--json").output.contains(/"isRunning" *: *true/) }
        let result = try home.shell(
            """
            (number=0
            until [ -e stop ]; do
                number=$((number + 1)); echo "file $number" >file$number
                id=$("$KITH" note add "Note $number" --body "text $number" | tail -n 1) && "$KITH" note attach "$id" file$number || touch failed
                echo $number >written
            done) >/dev/null 2>&1 & writer=$!
            for backup in 1 2 3; do
                until [ "$(cat written 2>/dev/null || echo 0)" -ge $((backup * 3)) ]; do sleep 0.02; done
                cat written >before$backup; "$KITH" backup backup$backup || touch failed
            done
            touch stop; wait $writer; ls failed
            """)
        #expect(!result.output.contains("failed"), "\(result.output) \(result.error)")
        #expect(try await node.stop(SIGTERM) == 0)
        for number in 1...3 {
            let store = home.path("restored\(number)/notes.sqlite")
            #expect(try home.kith("restore", home.path("backup\(number)"), "--store", store).status == 0)
            #expect(try home.kith("verify", "--store", store).status == 0)
            let written = try home.kith("export", home.path("out\(number)"), "--store", store)
            #expect(written.status == 0, "\(written.output)\(written.error)")
            let notes = try FileManager.default.contentsOfDirectory(atPath: home.path("out\(number)")).filter { $0.hasSuffix(".md") }
            let before = try #require(Int(try home.shell("cat before\(number)").lastLine))
            #expect(notes.count >= before)
            #expect(Set(notes) == Set((1...notes.count).map { "Note \($0).md" }))
            #expect(result.output.contains("Backed up \(notes.count) notes with "), "\(notes.count): \(result.output)")
            // The last one may have no file yet.
            for note in 1..<notes.count {
                #expect(try home.shell("cat out\(number)/attachments/file\(note)").output == "file \(note)\n")
            }
        }
    }

    /// What the file of the notes answers.
    private func answer(_ question: String) throws -> String? {
        var configuration = Configuration()
        configuration.readonly = true
        let database = try DatabaseQueue(path: home.store.path, configuration: configuration)
        defer { try? database.close() }
        return try database.read { try String.fetchOne($0, sql: question) }
    }

    @Test("an import that is killed leaves whole notes; done again, each note and each file is there once")
    func killedImport() throws {
        let vault = home.folder.appending(path: "vault")
        try FileManager.default.createDirectory(at: vault, withIntermediateDirectories: true)
        for number in 0..<2_500 {
            let link = number.isMultiple(of: 25) ? "![](picture\(number).bin)" : ""
            try Data("text \(number) \(link)".utf8).write(to: vault.appending(path: "Note \(number).md"))
            if !link.isEmpty { try Data("picture \(number)".utf8).write(to: vault.appending(path: "picture\(number).bin")) }
        }
        let attachments = "SELECT count(*) || ' ' || count(DISTINCT name) || ' ' || count(DISTINCT note) FROM attachment"
        let lacking = """
            SELECT count(*) || '' FROM note WHERE body LIKE '%![](%' AND NOT EXISTS (SELECT 1 FROM attachment WHERE attachment.note = note.id)
            """
        var hasPart = false
        for milliseconds in stride(from: 50, through: 800, by: Soak.count(150, soaking: 5)) {
            let kill = String(format: "%.3f", Double(milliseconds) / 1_000)
            try home.shell("\"$KITH\" import vault & sleep \(kill); kill -9 $!; wait $! 2>/dev/null; true")
            let there = try home.kith("note", "list", "--json").json() as? [Any]
            let count = there?.count ?? 0
            #expect([0, 1_000, 2_000, 2_500].contains(count), "after \(milliseconds) ms: \(count)")
            if count > 0, count < 2_500 { hasPart = true }
            #expect(try home.kith("verify").status == 0, "after \(milliseconds) ms")
            if count > 0 { #expect(try answer(lacking) == "0") }
            // Each round begins anew until one has been cut in two; the rest goes on from there.
            if count == 2_500, !hasPart { try home.shell("rm -r store") }
        }
        let last = try home.kith("import", home.path("vault"))
        #expect(last.status == 0, "\(last.output)\(last.error)")
        #expect(try answer("SELECT count(*) || ' ' || count(DISTINCT title) FROM note") == "2500 2500")
        #expect(try answer(attachments) == "100 100 100")
        #expect(try home.kith("import", home.path("vault")).output == "Imported 0 notes, 2500 were here already.\n")
        #expect(try home.kith("export", home.path("out")).output.hasSuffix("with 100 attachments.\n"))
    }

    @Test func `a place without notes is no backup and no export, and is not made`() throws {
        let other = try KithHome()
        for command in ["backup b", "export e", "export e.jsonl", "verify", "backup --passphrase b"] {
            let refused = try other.shell("\"$KITH\" \(command) < /dev/null")
            #expect(refused.status == 66 && refused.error.contains("There are no notes"), "\(command): \(refused)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.folder.path).isEmpty)
    }

    @Test(arguments: ["TERM", "KILL"]) func `a backup or export that is ended by a signal leaves nothing, above all nothing unsealed`(
        signal: String
    ) throws {
        try home.shell(
            #"""
            mkdir vault stick && for i in $(seq 80); do head -c 60000 /dev/urandom | base64 > vault/$i.md; done && "$KITH" import vault
            """#)
        for command in ["backup --passphrase stick/b", "export stick/e", "export stick/e.jsonl"] {
            let ended = try home.shell(
                #"""
                printf "correct horse battery\ncorrect horse battery\n" | "$KITH" \#(command) > /dev/null 2>&1 &
                child=$!; seen=; n=0
                while kill -0 $child 2>/dev/null && [ $n -lt 400 ]; do
                    grep -l -r 'SQLite format 3' stick 2>/dev/null | grep -q . && seen=1
                    n=$((n + 1)); [ $n -eq 3 ] && kill -\#(signal) $child
                    sleep 0.1
                done
                wait $child; status=$?
                grep -l -r 'SQLite format 3' stick 2>/dev/null | grep -q . && seen=1
                echo "$status $seen"
                """#)
            #expect(ended.output.contains(" "), "\(ended)")
            if command.contains("passphrase") { #expect(ended.lastLine.hasSuffix(" "), "an unsealed copy was seen: \(ended)") }
            let status = Int(ended.lastLine.prefix { $0.isNumber }) ?? 0
            if signal != "KILL", status >= 128 { #expect(try home.shell("ls -A stick").output.isEmpty, "\(command)") }
            try home.shell("rm -rf stick && mkdir stick")
        }
        // What was killed left a copy beside the notes, which goes with the next backup.
        let backup = try home.shell(#"printf "correct horse battery\ncorrect horse battery\n" | "$KITH" backup --passphrase stick/last"#)
        #expect(backup.status == 0, "\(backup)")
        #expect(try home.shell("ls -A store | grep '^.kith-'").output.isEmpty)
    }

    @Test func `no folder is kept in step in which the notes themselves are kept`() throws {
        try home.kith("note", "add", "Shopping")
        for path in [home.folder.path, home.store.deletingLastPathComponent().path] {
            let refused = try home.kith("folder", "add", path)
            expectFailure(refused, 73)
            #expect(refused.error.contains("The notes themselves are kept in"))
        }
        #expect(try home.kith("folder", "list").output.isEmpty)
        // As in a person's home: the folder of the notes is passed over there.
        let hidden = home.path(".hidden/notes.sqlite")
        try home.kith("note", "add", "Shopping", "--store", hidden)
        #expect(try home.kith("folder", "add", home.folder.path, "--store", hidden).status == 0)
    }

    @Test("a folder is kept in step, and says what it did")
    func folder() throws {
        try home.kith("note", "add", "Shopping", "--body", "Bread")
        let folder = home.path("Notes")
        let added = try home.kith("folder", "add", folder)
        // Files that an export has made are those of notes that are there.
        try home.kith("export", home.path("Copy"))
        try home.kith("folder", "remove", folder)
        #expect(try home.kith("folder", "add", home.path("Copy")).output.hasSuffix("Copy: nothing to do.\n"))
        try home.kith("folder", "remove", home.path("Copy"))
        try home.kith("folder", "add", folder)
        #expect(added.status == 0 && added.output.hasSuffix("Notes: 1 written file.\n"), "\(added.output)\(added.error)")
        try home.shell("printf ', coffee' >> Notes/Shopping.md && printf 'new' > Notes/New.md")
        #expect(try home.kith("folder", "sync").output.hasSuffix("Notes: 1 new note, 1 changed file, 1 written file.\n"))
        #expect(try home.kith("note", "show", "Shopping", "--body-only").output == "Bread, coffee")
        #expect(try home.kith("folder", "sync", folder).output.hasSuffix("nothing to do.\n"))
        try home.shell("rm Notes/*.md")
        let held = try home.kith("folder", "sync")
        #expect(held.status == 75 && held.error.contains("--delete") && held.error.contains("--write-again"), "\(held.error)")
        #expect(try home.kith("folder", "sync", "--write-again").status == 0)
        try home.shell("printf '\\377\\376' > Notes/odd.md && rm Notes/New.md")
        try home.kith("folder", "sync", "--delete")
        let list = try home.kith("folder", "list").output
        #expect(list.contains("/Notes  1 file\n  odd.md: It is text in UTF-16."), "\(list)")
        #expect(try home.kith("status").output.contains("1 file is left as it is. See `kith folder list`."))
        #expect(try home.kith("folder", "remove", folder).status == 0)
        expectFailure(try home.kith("folder", "sync"), 66, "kith folder add")
    }

    @Test(
        "a save into a folder on one machine is in the file on the other one while both run, and the other way round",
        .timeLimit(.minutes(5)))
    func twoFolders() async throws {
        let other = try KithHome()
        try home.kith("device", "add", other.kith("device", "id").lastLine)
        try other.kith("folder", "add", other.path("Notes"))
        #expect(try home.kith("folder", "add", home.path("Vault"), "--folders-as-tags").status == 0)
        let first = try RunningNode(home, "--no-discovery", "--port", "0", "--json")
        var port: Substring?
        try await first.wait { output in
            port = output.firstMatch(of: /"port" ?: ?([1-9]\d*)/)?.1
            return port != nil
        }
        try other.kith("device", "add", home.kith("device", "id").lastLine, "--address", "127.0.0.1:\(try #require(port))")
        let second = try RunningNode(other, "--no-discovery", "--port", "0")
        try home.shell("mkdir Vault/work && echo one >Vault/work/Note.md")
        func waitForFile(_ path: String, _ words: String) async throws {
            while (try? String(contentsOf: URL(filePath: path), encoding: .utf8))?.contains(words) != true {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        try await waitForFile(other.path("Notes/Note.md"), "tags: [work]")
        try other.shell("echo two >>Notes/Note.md")
        try await waitForFile(home.path("Vault/work/Note.md"), "one\ntwo\n")
        #expect(try home.kith("folder", "list").output.contains("/Vault  folders as tags  1 file\n"))
        #expect(try await first.stop(SIGTERM) == 0)
        #expect(try await second.stop(SIGTERM) == 0)
    }

    @Test func `a folder that is away keeps no other from being brought in step`() throws {
        for name in ["A", "B", "C"] { try home.kith("folder", "add", home.path(name)) }
        try home.shell("mv A away; mv C/.kith-folder mark; printf new >B/New.md")
        let synced = try home.kith("folder", "sync")
        #expect(synced.status == 66 && synced.output.contains("B: 1 new note"), "\(synced)")
        #expect(synced.error.contains("A is not there") && synced.error.contains("C has no file .kith-folder"), "\(synced.error)")
        let list = try home.kith("folder", "list").output
        #expect(list.contains("B  1 file") && list.contains("C  not there"), "\(list)")
        try home.kith("note", "add", "Later")
        let status = try home.kith("status").output
        #expect(status.contains("1 note is not in the files yet as it is now"), "\(status)")
        #expect(try home.kith("folder", "list").output.contains("1 note is not in the files yet as now"))
    }
}
