import Foundation
import Testing

@testable import KithProgram

@Suite("One program of Kith runs another that is not its own")
struct CompanionTests {
    private let home: KithHome

    init() throws { home = try KithHome() }

    @Test("the one beside it goes before the one on the path, and what cannot be run does not count")
    func order() throws {
        for folder in ["own", "path"] {
            try FileManager.default.createDirectory(at: home.folder.appending(path: folder), withIntermediateDirectories: true)
        }
        let own = home.folder.appending(path: "own/kith")
        let path = "relative:\(home.path("none")):\(home.path("path"))"
        #expect(Companion.path(of: "kith-lab", beside: own, searching: path) == nil)
        try home.script("path/kith-lab", "")
        #expect(Companion.path(of: "kith-lab", beside: own, searching: path) == home.path("path/kith-lab"))
        try home.write("own/kith-lab", Data(), mode: 0o644)
        #expect(Companion.path(of: "kith-lab", beside: own, searching: path) == home.path("path/kith-lab"))
        try home.script("own/kith-lab", "")
        #expect(Companion.path(of: "kith-lab", beside: own, searching: path) == home.path("own/kith-lab"))
        #expect(Companion.path(of: "kith-lab", beside: nil, searching: nil) == nil)
    }

    @Test("a kith without its lab says where to get it, and knows all the rest")
    func alone() throws {
        let folder = home.folder.appending(path: "alone")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let program = folder.appending(path: "kith")
        do {
            try FileManager.default.linkItem(at: KithHome.program, to: program)
        } catch {
            try FileManager.default.copyItem(at: KithHome.program, to: program)
        }
        let result = try home.shell("alone/kith lab list", environment: ["PATH": "/usr/bin:/bin"])
        expectFailure(result, 69, "kith-lab", "make install")
        #expect(try home.shell("alone/kith --version").status == 0)
    }

    @Test(
        "a version names the commit where it is not the released one",
        arguments: [
            ("", Version.number), ("v" + Version.number, Version.number), ("9f038a6", Version.number + " (9f038a6)"),
            ("v0.0.9-7-g9f038a6-dirty", Version.number + " (v0.0.9-7-g9f038a6-dirty)"),
        ])
    func version(description: String, shown: String) {
        #expect(Version.described(by: description) == shown)
    }
}
