import Foundation
import KithLab

do {
    let options = try SimulatorOptions(CommandLine.arguments.dropFirst())
    exit(try SimulatorRun(options).run() ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}
