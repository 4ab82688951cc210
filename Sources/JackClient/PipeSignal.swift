import Glibc

/// A write to a server that has just died is then an error on the calling thread, not the end of the program. For threads
/// of ours that call libjack: what the rest of the program does about the signal is its own business.
package func blockPipeSignal() {
  var pipe = sigset_t()
  sigemptyset(&pipe)
  sigaddset(&pipe, SIGPIPE)
  pthread_sigmask(SIG_BLOCK, &pipe, nil)
}
