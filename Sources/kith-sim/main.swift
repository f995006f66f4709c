import Foundation
import KithTesting

do {
    let options = try Options(CommandLine.arguments.dropFirst())
    exit(try Runner(options: options).run() ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}
