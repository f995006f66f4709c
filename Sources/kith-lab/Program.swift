import ArgumentParser
import Foundation
import KithProgram

/// Where `kith-lab` starts and ends: the only place that exits the process.
@main
enum Program {
    static func main() {
        StandardStreams.open()
        do {
            try StandardStreams.checkArguments()
            var command = try LabCommand.parseAsRoot()
            try command.run()
        } catch let error where CommandFailure(error) != nil {
            CommandFailure(error)?.exit(isVerbose: false)
        } catch {
            LabCommand.exit(withError: error)
        }
    }
}
