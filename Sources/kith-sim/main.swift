import Foundation
import KithLab

let arguments = CommandLine.arguments.dropFirst()
if arguments.contains("--help") {
    print("Usage:\n\(SimulatorOptions.synopsis(of: "kith-sim"))\n\n\(SimulatorOptions.explanation)", terminator: "")
    exit(0)
}
do {
    exit(try SimulatorRun(SimulatorOptions(arguments), ownsProcess: true).run() ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("kith-sim: \(error)\n".utf8))
    exit(2)
}
