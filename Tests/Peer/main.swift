import Foundation
// One end of a control socket as a separate program for tests: a server, a client, or a hostile user.
//
//   serve            answers /peer/… at the control socket "pinna" until it is stopped
//   call PATH WORD…  sends one request, prints the answer's text, ends with its status
//   alarmed PATH …   the same, while a signal arrives every five milliseconds
//   listen           opens a session, prints its events until one says "last"
//   forge            as another user: sends answers and events to every socket that the kernel lists
//   take ADDRESS     as another user: listens at an address, prints each packet that arrives there
//   ask SOCKET PATH… as another user: connects and sends a request, says what came of it
//   turn SECONDS     waits so long for a turn that another has, prints how long that was
//   own PATH KIND    as another user: makes a folder, a link or a file at PATH
//   shout PORT FILE  as another user: sends requests over UDP, tries to read the token in FILE, says what came of it
import Messages

let words = Array(CommandLine.arguments.dropFirst())

switch words.first {
case "serve": try serve()
case "call": call(words.dropFirst())
case "alarmed":
  startAlarms()
  call(words.dropFirst())
case "listen": try listen()
case "forge":
  becomeNobody()
  forge()
case "take":
  becomeNobody()
  take(words[1])
case "ask":
  becomeNobody()
  ask(words[1], words.dropFirst(2))
case "turn": waitForTurn(seconds: Double(words[1]) ?? 0)
case "own":
  becomeNobody()
  try own(words[1], words[2])
case "shout": shout(port: UInt16(words[1]) ?? 0, tokenFile: words[2])
default: exit(2)
}
