// Loaded into an emulator before any other code (NODE_OPTIONS=--require). This program counts the emulator's calls on
// files in its data folder, and makes the call that DISK_FAULT names fail.
const fs = require('node:fs');
const promises = require('node:fs/promises');
const { syncBuiltinESMExports } = require('node:module');

/**
 * folder: only calls on files in this folder count
 * at: the number of the call, from 1
 * how: `fail`, or `short`: fail after half of a write
 * error: the error code of the failure
 * lasting: whether all later calls also fail
 * reached: the file to which the name of the call is written just before the fault
 */
const { folder, at, how, error, lasting, reached } = JSON.parse(process.env.DISK_FAULT);
const ERRNO = { ENOSPC: -28, EIO: -5, EDQUOT: -122, EACCES: -13, EMFILE: -24 };
const real = { writeFileSync: fs.writeFileSync };
/** Descriptors of open files in the folder. */
const ours = new Set();
let count = 0;

const isOurs = (target) =>
  typeof target === 'number' ? ours.has(target) : String(target).startsWith(folder);

function failure(name) {
  const { [error]: errno } = ERRNO;
  return Object.assign(new Error(`${error}: injected, ${name}`), { code: error, errno, syscall: name });
}

/** Counts a call. @returns whether it is the one that DISK_FAULT names, or a later one that also fails */
function isReached(name) {
  count++;
  if (count === at) real.writeFileSync(reached, name);
  return count === at || (lasting && count > at);
}

/** @param halve writes half of the call's data; only for calls that write */
function wrapped(name, original, targetOf, halve) {
  return function call(...given) {
    if (!isOurs(targetOf(this, given)) || !isReached(name)) return original.apply(this, given);
    if (halve && how === 'short') return halve.call(this, original, given);
    throw failure(name);
  };
}

const first = (_, [path]) => path;
const handle = ({ fd }) => fd;
const half = (data) => {
  const bytes = Buffer.from(data);
  return bytes.subarray(0, bytes.length >> 1);
};

for (const name of ['statSync', 'lstatSync', 'ftruncateSync', 'linkSync', 'renameSync', 'unlinkSync'])
  fs[name] = wrapped(name, fs[name], first);
fs.writeSync = wrapped('writeSync', fs.writeSync, first, (original, [fd, data]) => {
  original(fd, half(data));
  throw failure('writeSync');
});

for (const name of ['fdatasync', 'fsync']) {
  const call = wrapped(name, fs[name], first);
  fs[name] = (fd, done) => {
    try {
      call(fd, done);
    } catch (error) {
      done(error);
    }
  };
}

const asynchronous = (name, original, targetOf, halve) => {
  const call = wrapped(name, original, targetOf, halve);
  return async function (...given) {
    return call.apply(this, given);
  };
};

const { open } = promises;
const opened = asynchronous('open', open, first);
for (const name of ['rm', 'utimes', 'mkdir', 'readdir', 'readFile', 'writeFile', 'stat'])
  promises[name] = asynchronous(name, promises[name], first);
promises.open = async (path, ...given) => {
  const file = await opened(path, ...given);
  if (isOurs(path)) {
    ours.add(file.fd);
    patch(Object.getPrototypeOf(file));
  }
  return file;
};

let isPatched = false;
function patch(handles) {
  if (isPatched) return;
  isPatched = true;
  for (const name of ['truncate', 'read']) handles[name] = asynchronous(name, handles[name], handle);
  for (const name of ['appendFile', 'writeFile'])
    handles[name] = asynchronous(name, handles[name], handle, async function (original, [data]) {
      await original.call(this, half(data));
      throw failure(name);
    });
  const { close } = handles;
  handles.close = function () {
    ours.delete(this.fd);
    return close.call(this);
  };
}

syncBuiltinESMExports();
