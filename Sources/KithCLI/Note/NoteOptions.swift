import ArgumentParser
import KithNotes

extension NoteColor: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(named: argument)
    }

    public static var allValueStrings: [String] { named.map(\.name) }
}

/// Where the body of a note comes from.
struct BodyOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: "The text of the note; - reads it from standard input.")
    var body: String?

    @Option(help: "A file with the text of the note; - reads standard input.", completion: .file(), transform: GivenPath.read)
    var bodyFile: String?

    func validate() throws {
        if body != nil, bodyFile != nil { throw ValidationError("Give --body or --body-file, not both.") }
    }

    /// The text that was asked for, or `nil` if none was.
    func read() throws(CommandFailure) -> String? {
        if let path = body == "-" ? body : bodyFile {
            return try StandardStreams.read(path, bytesMax: NoteLimits.mergedBodyBytesMax)
        }
        return body
    }
}

extension NoteTags {
    /// A tag as people type it: with or without the number sign.
    static func tag(typed text: String) -> String {
        text.hasPrefix("#") ? String(text.dropFirst()) : text
    }
}
