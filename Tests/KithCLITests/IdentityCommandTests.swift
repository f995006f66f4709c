import Foundation
import Testing

@Suite("An identity gets lost, or into wrong hands", .timeLimit(.minutes(3)))
struct IdentityCommandTests {
    private let home: KithHome
    private let passphrase = "correct horse battery\n"

    init() throws { home = try KithHome() }

    @Test func `what was exported is imported elsewhere, and nothing is overwritten`() throws {
        let id = try home.kith("device", "id").lastLine
        expectFailure(try home.kith("device", "export", "desk.kith", input: "too short\n"), 65, "passphrase")
        #expect(!FileManager.default.fileExists(atPath: home.path("desk.kith")))
        let exported = try home.kith("device", "export", "desk.kith", input: passphrase)
        #expect(exported.status == 0, "\(exported.error)")
        let mode = try FileManager.default.attributesOfItem(atPath: home.path("desk.kith"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        expectFailure(try home.kith("device", "export", "desk.kith", input: passphrase), 73, "exists")
        expectFailure(try home.kith("device", "import", "desk.kith", input: passphrase), 73, "not overwritten")
        let other = try KithHome()
        expectFailure(try other.kith("device", "import", home.path("nothing.kith"), input: passphrase), 66, "nothing.kith")
        try other.write("cut.kith", Data(contentsOf: home.folder.appending(path: "desk.kith")).prefix(30))
        expectFailure(try other.kith("device", "import", "cut.kith", input: passphrase), 65, "damaged")
        expectFailure(try other.kith("device", "import", home.path("desk.kith"), input: ""), 65, "passphrase")
        let imported = try other.kith("device", "import", home.path("desk.kith"), input: passphrase)
        #expect(imported.status == 0 && imported.output.contains(id), "\(imported.error)")
        #expect(try other.kith("device", "id").lastLine == id)
    }

    @Test func `a new key is for members of a household`() throws {
        let id = try home.kith("device", "id").lastLine
        expectFailure(try home.kith("device", "renew"), 65, "kith pair")
        #expect(try home.kith("device", "id").lastLine == id)
    }
}
