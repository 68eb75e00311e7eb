// For `node --require`: before the first output of a program, writes the modules that are loaded to stderr, as JSON.
const { stdout } = process;
const { write } = stdout;
stdout.write = (...output) => {
  stdout.write = write;
  const files = Object.keys(require.cache).filter((path) => path !== __filename);
  process.stderr.write(`${JSON.stringify({ files, nodes: process.moduleLoadList })}\n`);
  return stdout.write(...output);
};
