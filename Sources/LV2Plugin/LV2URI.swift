/// LV2's names, which its headers define in a way that Swift does not read.
package enum LV2URI {
  package static let workerInterface = "http://lv2plug.in/ns/ext/worker#interface"
  package static let workerSchedule = "http://lv2plug.in/ns/ext/worker#schedule"
  package static let uridMap = "http://lv2plug.in/ns/ext/urid#map"
  package static let log = "http://lv2plug.in/ns/ext/log#log"
  package static let logError = "http://lv2plug.in/ns/ext/log#Error"
  package static let options = "http://lv2plug.in/ns/ext/options#options"
  package static let atomInt = "http://lv2plug.in/ns/ext/atom#Int"
  package static let nominalBlockLength = "http://lv2plug.in/ns/ext/buf-size#nominalBlockLength"
  package static let maxBlockLength = "http://lv2plug.in/ns/ext/buf-size#maxBlockLength"
}
