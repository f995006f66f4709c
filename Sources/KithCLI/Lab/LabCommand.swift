import ArgumentParser
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Becomes `kith-lab`, a program of its own, so that the one that keeps people's notes has no faults to inject.
struct LabCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lab",
        abstract: "Try out what happens when networks and machines fail.",
        // Asked for help, the program itself answers.
        helpNames: [])

    @Argument(parsing: .captureForPassthrough)
    var arguments: [String] = []

    func run() throws {
        guard let program = Companion.path(of: "kith-lab") else {
            throw CommandFailure(
                .unavailable,
                "The lab is a program of its own, kith-lab, and is neither beside kith nor on the PATH. `make install` in Kith's sources brings it."
            )
        }
        var pointers = (["kith-lab"] + arguments).map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        execv(program, &pointers)
        throw CommandFailure(.unavailable, "\(program) cannot be started (\(StandardStreams.systemMessage())).")
    }
}
