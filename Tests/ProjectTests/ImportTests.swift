import Foundation
import Testing

@Suite("The layers of the package stay apart")
struct ImportTests {
    /// The folder of the package, from where this file is.
    private var sources: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources")
    }

    @Test func `no source file imports a module that its layer may not know`() throws {
        let violations = try SourceImports.violations(in: sources, allowed: ModuleTable.allowedImports)
        #expect(violations.isEmpty, "\(violations.map(\.description).joined(separator: "\n"))")
    }

    @Test func `every target has its line in the table`() throws {
        let targets = try FileManager.default.contentsOfDirectory(atPath: sources.path).filter { !$0.hasPrefix(".") }
        #expect(targets.contains("KithCausality"))
        #expect(Set(targets).subtracting(ModuleTable.allowedImports.keys).isEmpty)
    }

    @Test func `the arrows between our own modules have no cycle`() {
        var left = ModuleTable.allowedImports.mapValues { $0.intersection(ModuleTable.allowedImports.keys) }
        while let leaf = left.first(where: { $0.value.isDisjoint(with: left.keys) })?.key { left[leaf] = nil }
        #expect(left.isEmpty, "these import each other: \(left.keys.sorted())")
    }

    @Test func `an arrow that points up is found, in whatever form it is written`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kith-imports-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let nested = folder.appendingPathComponent("KithSync/Session")
        try FileManager.default.createDirectory(at: nested, withIntermediateDirectories: true)
        try "import KithCausality\nimport KithText\n".write(
            to: nested.appendingPathComponent("Good.swift"), atomically: true, encoding: .utf8)
        try "import KithCausality\n  @preconcurrency public import struct KithStore.Store\n"
            .write(to: nested.appendingPathComponent("Bad.swift"), atomically: true, encoding: .utf8)

        let violations = try SourceImports.violations(in: folder, allowed: ModuleTable.allowedImports)

        #expect(violations == [.init(file: "KithSync/Session/Bad.swift", module: "KithStore", target: "KithSync")])
    }

    @Test(
        arguments: [
            ("import A", ["A"]),
            ("@testable import A", ["A"]),
            ("@_spi(Testing) internal import A", ["A"]),
            ("import struct A.B", ["A"]),
            ("import A.B; import C", ["A", "C"]),
            ("#if os(Linux)\n    import A // why\n#endif", ["A"]),
            ("// import A", []),
            ("let important = 1", []),
        ])
    func `imports are read in every form`(text: String, modules: [String]) {
        #expect(SourceImports.modules(importedBy: text) == modules)
    }
}
