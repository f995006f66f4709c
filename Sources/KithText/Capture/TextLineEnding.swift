/// How the lines of a text end. A text keeps one ending for ever, and surfaces convert at the edge: a browser's text
/// area always gives LF and a form CR LF, and without this the first save would rewrite every line.
public enum TextLineEnding: Hashable, Sendable {
    case lf
    case crlf

    /// The ending that all lines of `text` have; `nil` without lines or when they differ.
    public init?(of text: TextBuffer) {
        var found: (lf: Bool, crlf: Bool) = (false, false)
        var previous: Unicode.Scalar?
        text.forEachChunk { chunk in
            for scalar in chunk {
                if scalar == "\n" {
                    if previous == "\r" { found.crlf = true } else { found.lf = true }
                }
                previous = scalar
            }
        }
        switch found {
        case (true, false): self = .lf
        case (false, true): self = .crlf
        default: return nil
        }
    }

    /// `text` with this ending instead of CR LF and LF. A CR alone stays.
    public func applied(to text: TextBuffer) -> TextBuffer {
        var scalars = ContiguousArray<Unicode.Scalar>()
        scalars.reserveCapacity(text.count)
        text.forEachChunk { chunk in
            for scalar in chunk {
                if scalar == "\n" {
                    if scalars.last == "\r", self == .lf { scalars.removeLast() }
                    if scalars.last != "\r", self == .crlf { scalars.append("\r") }
                }
                scalars.append(scalar)
            }
        }
        return TextBuffer(scalars: scalars)
    }
}
