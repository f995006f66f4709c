#if os(Linux)
import Foundation
import Testing

/// Headless Chromium, which loads a page in frames of given widths and says what it looks like there, or takes a picture of it.
enum Browser {
    static let path = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].lazy.flatMap {
        name in
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
    }.first { FileManager.default.isExecutableFile(atPath: $0) }

    /// What a page is in a frame of a width.
    struct Look: Decodable {
        var width: Int
        /// How wide its content is: more than `width` if it has to be scrolled sideways.
        var contentWidth: Int
        /// Errors of its scripts.
        var errors: [String]
        /// What it says of the first commit, after one press of an arrow key, and of none, after Escape; empty without a diagram.
        var picked: String
        var unpicked: String
    }

    static func looks(at page: String, widths: [Int], in folder: URL) throws -> [Look] {
        let file = folder.appending(path: "frames.html")
        try frames(page, widths).write(to: file, atomically: true, encoding: .utf8)
        let dom = try run(["--window-size=1600,1200", "--dump-dom", file.absoluteString], in: folder)
        let result = try #require(dom.components(separatedBy: "data-looks=\"").dropFirst().first?.split(separator: "\"").first)
        return try JSONDecoder().decode([Look].self, from: try #require(Data(base64Encoded: String(result))))
    }

    /// What a window of this size shows of a page.
    static func picture(of page: String, width: Int, height: Int, in folder: URL) throws -> Picture {
        let (file, picture) = (folder.appending(path: "page.html"), folder.appending(path: "picture.png"))
        try page.write(to: file, atomically: true, encoding: .utf8)
        _ = try run(["--window-size=\(width),\(height)", "--screenshot=\(picture.path)", file.absoluteString], in: folder)
        return try Picture(png: Data(contentsOf: picture))
    }

    /// Runs it to its end. Returns what it printed.
    private static func run(_ arguments: [String], in folder: URL) throws -> String {
        let output = folder.appending(path: "output")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        let process = Process()
        process.executableURL = URL(filePath: try #require(path))
        process.arguments =
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--user-data-dir=\(folder.appending(path: "profile").path)",
            ] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["HOME": folder.path]) { $1 }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return try String(contentsOf: output, encoding: .utf8)
    }

    /// Windows have a least width, frames have none; and a page in a frame may be looked at from the page around it.
    private static func frames(_ page: String, _ widths: [Int]) -> String {
        let listener = "<head><script>addEventListener(\"error\", event => parent.errors(window).push(event.message))</script>"
        let source = page.replacingOccurrences(of: "<head>", with: listener)
            .replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "\"", with: "&quot;")
        let frames = widths.map { "<iframe width=\"\($0)\" height=\"800\" style=\"border:0\" srcdoc=\"\(source)\"></iframe>" }
        return """
            <!doctype html>
            <meta charset="utf-8">
            <script>
            const found = new Map();
            function errors(frame) {
              if (!found.has(frame)) found.set(frame, []);
              return found.get(frame);
            }
            function look(frame) {
              const page = frame.contentDocument;
              for (const details of page.querySelectorAll("details")) details.open = true;
              const stage = [...page.querySelectorAll(".stage")].find(stage => stage.offsetParent !== null);
              const said = key => {
                if (!stage) return "";
                stage.dispatchEvent(new frame.contentWindow.KeyboardEvent("keydown", { key, bubbles: true }));
                return page.getElementById("detail").textContent;
              };
              const look = { width: frame.clientWidth, contentWidth: page.documentElement.scrollWidth,
                             picked: said("ArrowRight"), unpicked: said("Escape") };
              return { ...look, errors: errors(frame.contentWindow) };
            }
            addEventListener("load", () => {
              const looks = JSON.stringify([...document.querySelectorAll("iframe")].map(look));
              const bytes = new TextEncoder().encode(looks);
              document.documentElement.dataset.looks = btoa(Array.from(bytes, byte => String.fromCodePoint(byte)).join(""));
            });
            </script>
            \(frames.joined(separator: "\n"))
            """
    }
}
#endif
