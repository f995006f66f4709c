import Foundation
import KithLab
import KithProgram

/// A scenario as it is named on the command line.
enum ScenarioFile {
    /// Larger files are no scenarios.
    private static let bytesMax = 1 << 20

    /// One that comes with kith, or a file.
    ///
    /// - Throws: ``CommandFailure`` with each problem on a line of its own.
    static func read(_ name: String) throws(CommandFailure) -> Scenario {
        let text: String
        if let shipped = ShippedScenario.named(name) {
            text = shipped.text
        } else {
            guard FileManager.default.fileExists(atPath: name) else {
                throw CommandFailure(.noInput, "There is no scenario and no file \(name). See `kith lab list`.")
            }
            text = try StandardStreams.read(name, bytesMax: bytesMax)
        }
        do {
            return try ScenarioReader.read(text, name: URL(filePath: name).deletingPathExtension().lastPathComponent)
        } catch {
            for problem in error.problems { try? Console.error.writeLine(PlainText.line("\(name):\(problem.line): \(problem.message)")) }
            throw CommandFailure(
                .data,
                "\(name) cannot be run; \(error.problems.count == 1 ? "one thing is" : "\(error.problems.count) things are") wrong with it."
            )
        }
    }
}
