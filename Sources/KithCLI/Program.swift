import ArgumentParser
import Foundation
import Synchronization

/// Where `kith` starts and ends: the only place that exits the process.
@main
enum Program {
    static func main() async {
        StandardStreams.open()
        // Avahi's library would write advice for programmers between a question and its answer.
        setenv("AVAHI_COMPAT_NOWARN", "1", 1)
        do {
            try StandardStreams.checkArguments()
            try KithCommand.checkName(CommandLine.arguments.dropFirst().first)
            var command = try KithCommand.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            if let reason = StoreOptions.readOnlyReason.withLock({ $0 }) {
                try? Console.error.writeLine(PlainText.line("Only reading: \(reason)"))
            }
        } catch let error where CommandFailure(error) != nil {
            CommandFailure(error)?.exit(isVerbose: CommandLine.arguments.contains("--verbose"))
        } catch {
            // Help, versions, and arguments that cannot be parsed.
            if KithCommand.exitCode(for: error).isSuccess {
                do {
                    try Console.output.writeLine(KithCommand.help(for: error))
                } catch {
                    error.exit(isVerbose: false)
                }
            } else {
                // It repeats the arguments as they are.
                let text = PlainText.block(KithCommand.fullMessage(for: error))
                if !text.isEmpty { try? Console.error.writeLine(text) }
                exit(KithCommand.exitCode(for: error).rawValue)
            }
        }
    }
}
