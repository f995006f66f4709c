import KithTesting
import TestSupport
import Testing

@testable import KithLab

@Suite("What a commit costs each machine grows with their number")
struct ScaleTests {
    private static let commitCount = Soak.count(8, soaking: 20)

    @Test(arguments: [Topology.mesh, .chain])
    func `each machine handles about as many frames a commit among sixteen as among six`(topology: Topology) throws {
        let report = ScaleReport(simulator: try KithSimulator(.standard), commitCount: Self.commitCount)
        let few = try report.cost(topology, nodeCount: 6)
        let many = try report.cost(topology, nodeCount: 16)
        // A slice and its answer for each machine, what the vectors of a few neighbours say, and ahead of what names a new commit a proof.
        #expect(few.framesPerNode > 1)
        #expect(many.framesPerNode < 1.5 * few.framesPerNode)
        #expect(many.framesPerNode < 7)
        #expect(many.bytesPerNode < 2 * few.bytesPerNode, "\(many.bytesPerNode), \(few.bytesPerNode)")
    }

    /// A long run has sixty-four.
    private static let manyCount = Soak.count(24, soaking: 64)

    @Test func `each of many machines around one handles no more than each of sixteen`() throws {
        let report = ScaleReport(simulator: try KithSimulator(.standard), commitCount: Self.commitCount)
        let few = try report.cost(.star, nodeCount: 16)
        let many = try report.cost(.star, nodeCount: Self.manyCount)
        #expect(few.framesPerNode > 1)
        #expect(many.framesPerNode < 1.2 * few.framesPerNode)
        // A comparison names each machine. It comes once for several commits, but for few of them in a short run.
        #expect(many.bytesPerNode < 1.5 * few.bytesPerNode, "\(many.bytesPerNode), \(few.bytesPerNode)")
    }
}
