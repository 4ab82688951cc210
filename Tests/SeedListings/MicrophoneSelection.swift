// Seed 003: Technical Q&A QA1799, listing 1, translated from Objective-C to Swift line by line.

import PinnaSession

func demonstrateInputSelection() {
  let myAudioSession = AudioSession.sharedInstance()

  do { try myAudioSession.setCategory(.playAndRecord) } catch {
    NSLog("setCategory failed")
  }

  do { try myAudioSession.setActive(true) } catch {
    NSLog("setActive failed")
  }

  // Get the set of available inputs. If there are no audio accessories attached, there will be
  // only one available input -- the built in microphone.
  let inputs = myAudioSession.availableInputs ?? []

  // Locate the Port corresponding to the built-in microphone.
  var builtInMicPort: PortDescription! = nil
  for port in inputs {
    if port.portType == .builtInMic {
      builtInMicPort = port
      break
    }
  }

  // Print out a description of the data sources for the built-in microphone
  NSLog(
    "There are %u data sources for port :\"%@\"", builtInMicPort.dataSources!.count, builtInMicPort!)
  NSLog("%@", builtInMicPort.dataSources!)

  // loop over the built-in mic's data sources and attempt to locate the front microphone
  var frontDataSource: DataSourceDescription? = nil
  for source in builtInMicPort.dataSources! {
    if source.orientation == .front {
      frontDataSource = source
      break
    }
  }  // end data source iteration

  if let frontDataSource {
    NSLog(
      "Currently selected source is \"%@\" for port \"%@\"",
      builtInMicPort.selectedDataSource!.dataSourceName, builtInMicPort.portName)
    NSLog(
      "Attempting to select source \"%@\" on port \"%@\"", frontDataSource, builtInMicPort.portName)

    // Set a preference for the front data source.
    do { try builtInMicPort.setPreferredDataSource(frontDataSource) } catch {
      // an error occurred. Handle it!
      NSLog("setPreferredDataSource failed")
    }
  }

  // Make sure the built-in mic is selected for input. This will be a no-op if the built-in mic is
  // already the current input Port.
  do { try myAudioSession.setPreferredInput(builtInMicPort) } catch {
    // an error occurred. Handle it!
    NSLog("setPreferredInput failed")
  }
}
