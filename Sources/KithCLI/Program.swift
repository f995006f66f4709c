import ArgumentParser

/// Where `kith` starts and ends: the only place that exits the process.
@main
enum Program {
    static func main() async {
        StandardStreams.open()
        do {
            try StandardStreams.checkArguments()
            var command = try KithCommand.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error where CommandFailure(error) != nil {
            CommandFailure(error)?.exit()
        } catch {
            // Help, versions, and arguments that cannot be parsed.
            KithCommand.exit(withError: error)
        }
    }
}
