import Foundation
import Kith
import Testing

/// Two nodes on one store would both send, both checkpoint, and trip over each other.
@Suite struct OneNodePerStoreTests {
    @Test func `a second node on the same store is refused and the first goes on`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try a.trust(b)
        a.start()
        _ = try await a.port()
        let second = Node(store: a.store, key: a.key, trust: a.trust, configuration: NodeConfiguration(app: "test"))
        await #expect {
            try await second.run()
        } throws: { error in
            (error as? StoreError)?.code == .busy
        }
        #expect(a.node.status.port != nil)
        await a.stop()
    }

    @Test func `the status of a running node can be read beside the store`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try a.trust(b)
        a.start()
        let file = StatusFile(forStore: a.folder.appending(path: "store/test.sqlite"))
        try await a.until { file.read()?.port != nil }
        #expect(file.read()?.state == .waiting)
        await a.stop()
        #expect(file.read() == nil)
    }
}
