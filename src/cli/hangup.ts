/**
 * To be called on SIGHUP: what has to be done at the end is done, but then the process ends by that signal. A plain
 * exit would have Node put the terminal in order, and abort because there is none any more.
 */
export function endByHangup(): void {
  if (!process.stdin.isTTY && !process.stdout.isTTY && !process.stderr.isTTY) return;
  process.once('exit', () => {
    process.removeAllListeners('SIGHUP');
    process.kill(process.pid, 'SIGHUP');
  });
}
