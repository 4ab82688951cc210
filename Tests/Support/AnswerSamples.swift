/// Answers of a running Pinna as they come through the socket: JSON on one line with ordered keys.
public enum AnswerSamples {
  /// A status in which no key is absent.
  public static let everything = #"""
    {"abandonedClients":2,"adaptation":0.5,"adaptationLoad":7.5,"adaptationText":"adapting","calibrated":"2026-11-23","calibratedFrom":"file","change":{"device":"phone5","preset":"phone5","progress":0.25},"clippedSamples":4,\#
    "closingTakes":["/takes/c.flac"],"connections":[{"peers":["a:1","b:2"],"port":"left"}],\#
    "controller":"camera","dataSource":"Front","designing":[60,0],"device":"pair",\#
    "droppedPackets":6,"dspLoad":12.25,"fallback":{"missing":[{"fault":"invalid","name":"right"}],\#
    "obstacle":"the disk is full","without":["right"]},\#
    "feeds":[{"dataSource":"Front","follow":["look"],"frame":"0,90","gainDB":-6,"highPassHz":80,"inputOrientation":"portrait","isHeard":false,"look":[60,0],"muted":true,"name":"anna",\#
    "obstacle":"there is no port","outputs":[{"name":"anna","peakDB":-12,"rmsDB":-24}],"polarPattern":"cardioid","roll":20,"weak":"it hears behind","wind":1,"yaw":-15}],"follow":["roll","yaw"],"format":1,"frame":"30,60","gainDB":-3.5,"highPassHz":80,"input":{"name":"Two microphones",\#
    "portType":"usbAudio","uid":"pair"},"inputChannels":2,"inputOrientation":"landscapeLeft",\#
    "lastTake":{"endedBecause":"the JACK server ended","fault":"64 frames are silence","frames":480,\#
    "path":"/takes/b.wav"},"latencyFrames":64,"layout":{"left":"top","right":"bottom"\#
    ,"sides":{"left":"+x, microphone left","right":"-x, microphone right"}},\#
    "levels":{"correlation":0.25,"feeds":[{"name":"anna","peakDB":-12,"rmsDB":-24}],"microphones":[{"name":"left","peakDB":-3,"rmsDB":-20.1},{"name":"right","peakDB":-150,\#
    "rmsDB":-150}],"outputs":[{"name":"out_left","peakDB":-12.2,"rmsDB":-30.5},{"name":"out_right",\#
    "peakDB":-12,"rmsDB":-31}]},"listening":"left","look":[-30.5,10],"microphones":2,"midi":{"bank":"evening","channel":3,"controllers":2,"programs":["pair","phone5"],\#
    "sources":["keys:out"]},"muted":true,"mutedMicrophones":["right"],\#
    "output":{"choice":"speaker","portType":"builtInSpeaker","ports":["system:playback_1",\#
    "system:playback_2"]},"part":"talkers","period":64,"playback":{"channels":2,"frames":4800,"framesPlayed":1200,\#
    "missedFrames":7,"playing":"/takes/d.wav"},"polarPattern":"stereo","preferred":{"dataSource":"Back",\#
    "inputOrientation":"portrait","look":[60,0],"polarPattern":"cardioid","roll":30,"yaw":-20},"preparedFallbacks":["left"],"preset":"pair",\#
    "rejectedSamples":3,"roll":40,"roomDB":-12,"sampleRate":48000,"seats":["anna=35"],"server":"stalled","silence":"the outputs are muted; pinna set --mute off","state":"recording","take":{"channels":2,\#
    "fault":"the disk is full","feeds":["main","anna"],"frames":960,"length":10800,"loss":"/takes was removed","markers":2,"path":"/takes/a.wav","raw":true,\#
    "secondsLeft":90,"title":"Second verse"},\#
    "talkers":[{"azimuth":35.2,"confidence":0.75,"elevation":-10.4,"identity":1,"isActive":true,"levelDB":-31.6,"name":"anna"},{"azimuth":-60,"confidence":0,"elevation":0,"identity":3,"isActive":false,"levelDB":-40,"name":"ben"}],\#
    "talkersDB":-3,"talkersText":"preparing","tracker":{"pitch":4.5,"roll":-2,"secondsAgo":0.25,"yaw":12},"unpreparedPeriods":5,"warnings":["no microphone is connected",\#
    "the disk is slow"],"weak":"it is omnidirectional below 200 Hz","wind":0.5,"windText":"-32 dBFS at top; 14 dB taken out","xruns":1,"yaw":50}
    """#
  /// A status without any optional key.
  public static let mono = #"""
    {"clippedSamples":4,"closingTakes":[],"dataSource":"Front","device":"pair","droppedPackets":6,\#
    "dspLoad":0.5,"gainDB":0,"input":{"name":"Two microphones","portType":"usbAudio","uid":"pair"},\#
    "inputChannels":1,"inputOrientation":"portrait","latencyFrames":64,\#
    "levels":{"microphones":[{"name":"left","peakDB":-3,"rmsDB":-20}],"outputs":[]},"microphones":1,\#
    "muted":false,"mutedMicrophones":[],"output":{"choice":"standard","ports":[]},"period":64,\#
    "polarPattern":"cardioid","preferred":{"dataSource":"Back","inputOrientation":"portrait",\#
    "polarPattern":"cardioid"},"preset":"pair","rejectedSamples":3,"sampleRate":48000,\#
    "server":"running","state":"stopped","unpreparedPeriods":5,"warnings":[],"xruns":0}
    """#
  /// The names of takes.
  public static let takes = #"{"format":1,"takes":["b.wav","a.flac"]}"#
  /// Inputs, data sources and refusals, with and without optional keys.
  public static let inputs = #"""
    {"inputs":[{"active":true,"dataSources":[{"id":1,"location":"upper","name":"Front",\#
    "notOffered":[{"inputOrientation":"landscapeRight","polarPattern":"stereo",\#
    "reason":"the microphones lie on one line"},{"inputOrientation":null,"polarPattern":"cardioid",\#
    "reason":"too close"}],"orientation":"front","selected":true,"selectedPolarPattern":"stereo",\#
    "stereoOrientations":["portrait"],"supportedPolarPatterns":["omnidirectional","stereo"],\#
    "weak":[{"inputOrientation":"portrait","polarPattern":"stereo","reason":"heard only 40° to the left"}]},\#
    {"id":1835216945,"name":"Bottom","notOffered":[],"orientation":"bottom","selected":false,\#
    "stereoOrientations":[],"supportedPolarPatterns":["omnidirectional"],"weak":[]}],"name":"Two microphones",\#
    "portType":"usbAudio","uid":"pair"},{"active":false,"dataSources":[{"id":7,"name":"Only",\#
    "notOffered":[],"orientation":"front","selected":false,"stereoOrientations":[],\#
    "supportedPolarPatterns":["omnidirectional"],"weak":[]}],"name":"One","portType":"headsetMic","uid":"one"},\#
    {"active":true,"name":"system:capture_1","portType":"lineIn","uid":"system:capture_1"},\#
    {"active":false,"name":"system:capture_2","portType":"lineIn","uid":"system:capture_2"}]}
    """#
  /// A change to stereo that is kept for later.
  public static let keptChange = #"""
    {"adaptation":0.5,"dataSource":"Front","follow":["look"],"frame":"0,90","gainDB":6,"highPassHz":40.5,"input":"pair","inputChannels":2,"inputOrientation":"portrait",\#
    "kept":"the session camera controls the route; this is set when it ends","layout":{"left":"right",\#
    "right":"left","sides":{"left":"+x, microphone left","right":"-x, microphone right"}},"listening":"left","look":[60,0],"muted":true,"polarPattern":"stereo","preset":"pair","roll":30,"seats":["anna=40"],"weak":"it is omnidirectional below 200 Hz","yaw":-15}
    """#
  /// A change to a mono pattern.
  public static let monoChange = #"""
    {"dataSource":"Front","gainDB":0,"input":"pair","inputChannels":1,"inputOrientation":"portrait",\#
    "muted":false,"polarPattern":"cardioid","preset":"pair"}
    """#
  /// The start of an armed take that is converted, with every key.
  public static let takeStart = #"""
    {"armed":true,"channels":2,"convertedTake":"/takes/a.flac","feeds":["main","anna"],"length":10800,"microphoneCount":2,"missing":[{"fault":"silent","name":"right"}],"muted":false,\#
    "notes":["the ring is short"],"raw":true,"secondsLeft":90,"take":"/takes/a.wav","unconnected":["left"],\#
    "unrecordedFeeds":["room"]}
    """#
  /// The start of a take without microphones.
  public static let silentTakeStart = #"""
    {"channels":1,"microphoneCount":2,"muted":false,"notes":[],"secondsLeft":300,"take":"/takes/a.wav",\#
    "unconnected":["left","right"]}
    """#
  /// The start of a muted take; the free space of the disk is not known yet.
  public static let mutedTakeStart = #"""
    {"channels":1,"microphoneCount":2,"muted":true,"notes":[],"take":"/takes/a.wav","unconnected":[]}
    """#
  /// The end of a take with every key.
  public static let takeEnd = #"""
    {"channels":2,"clippedSamples":2,"feeds":[{"name":"anna","path":"/takes/a-anna.wav"}],"frames":4800,"microphones":"/takes/a-microphones.wav",\#
    "notes":["no microphone was connected when the take began"],"pauses":1,"seconds":0.1,\#
    "sidecar":"/takes/a.json","silencedSamples":3,"take":"/takes/a.wav"}
    """#
  /// The end of a take without a microphones' file.
  public static let plainTakeEnd = #"""
    {"channels":1,"clippedSamples":0,"frames":4800,"notes":[],"pauses":2,"seconds":0.1,\#
    "sidecar":"/takes/a.json","silencedSamples":0,"take":"/takes/a.wav"}
    """#
  /// A playback.
  public static let playback = #"""
    {"channels":2,"frames":4800,"framesPlayed":1200,"missedFrames":7,"playing":"/takes/d.wav"}
    """#
  /// A stop that ended two takes.
  public static let stop = #"""
    {"stopped":true,"takes":[{"channels":2,"clippedSamples":2,"frames":4800,\#
    "microphones":"/takes/a-microphones.wav",\#
    "notes":["no microphone was connected when the take began"],"pauses":1,"seconds":0.1,\#
    "sidecar":"/takes/a.json","silencedSamples":3,"take":"/takes/a.wav"},{"channels":1,\#
    "clippedSamples":0,"frames":1,"notes":[],"pauses":2,"seconds":0.1,"sidecar":"/takes/a.json",\#
    "silencedSamples":0,"take":"/takes/a.wav"}]}
    """#
  /// The end of a change of device.
  public static let cancellation = #"{"cancelled":"phone5"}"#
  /// An opened session.
  public static let session = #"{"session":"camera-0123456789abcdef"}"#
}
