// Starts emulators with the library, like the first line of a test, and prints how long that takes.
const began = performance.now();
const { startGatewaySim } = await import('../../dist/index.js');
const imported = performance.now();
const first = await startGatewaySim();
const started = performance.now();
const second = await startGatewaySim();
const again = performance.now();
console.log(
  JSON.stringify({ imported: imported - began, started: started - imported, again: again - started }),
);
await Promise.all([first.stop(), second.stop()]);
