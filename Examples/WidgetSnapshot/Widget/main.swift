// A widget: it reads the file that the app keeps, with Foundation alone.
//
//   swift run widget FILE

import Foundation
import KithSnapshot

struct Item: Decodable {
    var title: String
}

let file = URL(filePath: CommandLine.arguments.dropFirst().first ?? "items.snapshot")
switch SnapshotReader(file).rows(of: Item.self) {
case .ok(let top): print(top.content.map(\.title).joined(separator: ", "))
case .stale(let top): print("As of \(top.date): \(top.content.map(\.title).joined(separator: ", "))")
case .missing: print("Nothing yet. Open the app.")
case .damaged: print("The file is damaged. The app makes it anew.")
case .newer: print("The app is newer than this widget.")
}
