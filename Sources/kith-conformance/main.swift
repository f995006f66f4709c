import Foundation

// kith-conformance merge FILE | adoption FILE | text FILE: answers the vectors of the specification with the real store and library.
// kith-conformance write-until-killed STORE, attach-until-killed STORE, migrate-until-killed STORE, snapshot-until-killed STORE:
// something for a test to kill.

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
    FileHandle.standardError.write(Data("usage: kith-conformance merge|adoption|text FILE (- reads standard input)\n".utf8))
    exit(64)
}
do {
    switch arguments[1] {
    case "merge", "adoption": try MergeConformance.run(path: arguments[2])
    case "text": try TextConformance.run(path: arguments[2])
    case "write-until-killed": try CrashWriter.run(path: arguments[2])
    case "migrate-until-killed": try CrashMigrator.run(path: arguments[2])
    case "attach-until-killed": try CrashAttacher.run(path: arguments[2])
    case "snapshot-until-killed": try CrashSnapshot.run(path: arguments[2])
    default: throw Failure("unknown kind of vectors: \(arguments[1])")
    }
} catch {
    FileHandle.standardError.write(Data("kith-conformance: \(error)\n".utf8))
    exit(65)
}
