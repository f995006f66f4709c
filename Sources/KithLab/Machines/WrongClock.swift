#if os(Linux)
import Foundation

/// Makes the library that lets a program see a wrong wall clock. A namespace cannot do that (Linux has none for wall clocks).
enum WrongClock {
    /// Compiles it into `folder`.
    static func makeLibrary(in folder: URL) throws -> URL {
        guard let compiler = ["cc", "clang", "gcc"].first(where: PrivateWorld.isInstalled) else {
            throw LabError(
                .unavailable, "Wrong clocks need a C compiler (cc, clang or gcc), because they are made by a small library. Install one.")
        }
        let source = folder.appending(path: "clock.c")
        let library = folder.appending(path: "clock.so")
        try Data(PackageResources.clock_c).write(to: source)
        try Child.run(
            [compiler, "-shared", "-fPIC", "-O1", "-o", library.path, source.path], log: folder.appending(path: "clock.log").path)
        return library
    }
}
#endif
