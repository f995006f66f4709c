import Foundation
import Testing

@Suite("The planted faults no longer fit the sources, and nobody notices")
struct PlantedFaultTests {
    /// One place where faults are planted.
    private struct Plant {
        let names: [String]
        let path: String
        let original: String

        /// - Parameter block: lines of `bugs.txt` between two empty ones.
        init?(_ block: String) {
            let lines = block.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            // Before the path stand the faults' names, and what the simulator needs to hunt them.
            let head = lines.prefix { $0.hasPrefix("bug ") || $0.hasPrefix("with ") }
            names = head.filter { $0.hasPrefix("bug ") }.compactMap { $0.dropFirst(4).split(separator: ":").first.map(String.init) }
            guard !names.isEmpty, head.count < lines.count else { return nil }
            path = lines[head.count]
            original = lines.filter { $0.hasPrefix("-") }.map { String($0.dropFirst()) }.joined(separator: "\n")
        }
    }

    @Test func `every fault has a name of its own, and its lines are in the sources once`() throws {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let list = try String(contentsOf: package.appendingPathComponent("Tests/PlantedBugs/bugs.txt"), encoding: .utf8)
        let plants = list.components(separatedBy: "\n\n").dropFirst().compactMap(Plant.init)
        let names = plants.flatMap(\.names)
        #expect(names.count >= 40)
        #expect(Set(names).count == names.count)
        for plant in plants {
            let source = try String(contentsOf: package.appendingPathComponent("Sources/\(plant.path)"), encoding: .utf8)
            #expect(!plant.original.isEmpty, "\(plant.names)")
            #expect(source.components(separatedBy: plant.original).count == 2, "\(plant.names) in \(plant.path)")
        }
        // None was passed over.
        #expect(names.count == list.split(separator: "\n").count { $0.hasPrefix("bug ") })
    }
}
