import Foundation
import Testing

@testable import Kith

/// The risk: in a folder into which others may write, a small file of ours can be read by them, or written to where they point.
@Suite struct SharedFolderTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "kith-shared-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
    }

    private func mode(_ file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    @Test func `the status of a node is for its owner alone`() throws {
        let file = StatusFile(forStore: folder.appending(path: "notes.sqlite"))
        // One that others could read is there already.
        try Data("{}".utf8).write(to: file.url)
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file.url.path)
        let status = NodeStatus(NodeStatus.Facts())
        try file.write(status)
        #expect(try mode(file.url) == 0o600)
        #expect(file.read() == status)
    }

    @Test func `what is put in the way of a temporary file is not written to`() throws {
        let victim = folder.appending(path: "victim")
        try Data("untouched".utf8).write(to: victim)
        let file = folder.appending(path: "addresses.json")
        let temporary = folder.appending(path: ".addresses.json.\(ProcessInfo.processInfo.processIdentifier)")
        for isLink in [true, false] {
            try? FileManager.default.removeItem(at: temporary)
            if isLink {
                try FileManager.default.createSymbolicLink(at: temporary, withDestinationURL: victim)
            } else {
                try FileManager.default.linkItem(at: victim, to: temporary)
            }
            try PrivateText.write(Data("new".utf8), to: file)
            #expect(try String(contentsOf: victim, encoding: .utf8) == "untouched")
            #expect(try String(contentsOf: file, encoding: .utf8) == "new" && mode(file) == 0o600)
            #expect(!FileManager.default.fileExists(atPath: temporary.path))
        }
        // A folder is in the way: it stays, and so does the old file.
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
        #expect(throws: (any Error).self) { try PrivateText.write(Data("newer".utf8), to: file) }
        #expect(try String(contentsOf: file, encoding: .utf8) == "new")
    }
}
