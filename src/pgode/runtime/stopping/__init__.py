"""How a command ends when it is asked to: within ten seconds, with a sentence, nothing left behind.

The usual way, an exception out of the signal handler, cannot be made safe. Python drops exceptions
in weak-reference callbacks, finalisers and callbacks from C, so that the interrupt is lost; between
two imports it leaves half a module; and it waits for calls into C. So no handler here ever raises:

- The handler (`command`) only notes the signal. Code that works in steps (`pgode.runtime.signals`)
  sees it, saves its state and ends by itself.
- Elsewhere the handler never returns: the main thread is parked wherever it is, and does nothing
  more that could be half done.
- A second thread, woken by the operating system's side of the signal (`signal.set_wakeup_fd`), even
  while the main thread is in C, then removes temporary files (`leftovers`), ends child processes,
  says what is kept (`kept`) and ends the process. It gives steps some seconds to end by themselves,
  a parked thread none. A second signal cuts this short.

The process may end at any instruction because files are replaced in one piece and a training
continues from its checkpoint to the same bits. Only commands and their workers do this. In a
notebook `import pgode` leaves all signals alone.
"""
