// Runs in a page from another origin. Each function in `ways` sends a request to the emulator and resolves with the
// text that the page could read of the response; empty if it could read nothing.
const PATIENCE_MS = 800;

/** @returns the result of the promise, or an empty text if it takes too long or fails */
const soon = (promise) =>
  Promise.race([
    Promise.resolve(promise).catch(() => ''),
    new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, '')),
  ]);

const bodyOf = ({ method, body }) => (method === 'GET' ? undefined : body);

const fetched = (options) => async (target) => {
  const { method, url } = target;
  const response = await fetch(url, { method, body: bodyOf(target), cache: 'no-store', ...options });
  return response.text();
};

const typed = (type, options = {}) => fetched({ headers: { 'Content-Type': type }, ...options });

/** Loads the URL into an element. @param read returns the text that the page can read of it */
const loaded =
  (name, attribute, read = () => '') =>
  async ({ url }) => {
    const element = document.createElement(name);
    if (name === 'link') element.rel = 'stylesheet';
    const done = new Promise((resolve) => {
      element.onload = () => resolve(read(element));
      element.onerror = () => resolve('');
    });
    element[attribute] = url;
    document.body.append(element);
    const seen = await soon(done);
    element.remove();
    return seen;
  };

const frameText = (frame) => {
  try {
    return frame.contentDocument?.documentElement.outerHTML ?? '';
  } catch {
    return '';
  }
};

/** The text that the page can read of a window that it opened, once the initial empty page is gone. */
const openedText = async (opened) => {
  while (opened && !opened.closed) {
    // Throws as soon as the window shows a page from another origin.
    const { documentElement, readyState, URL } = opened.document;
    if (URL !== 'about:blank' && readyState === 'complete') return documentElement.outerHTML;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return '';
};

const withFrame = async (prepare, sandbox) => {
  const frame = document.createElement('iframe');
  if (sandbox) frame.sandbox = sandbox;
  frame.name = `frame${Math.random()}`;
  const answered = new Promise((resolve) => {
    const listen = ({ data, source }) => {
      if (source === frame.contentWindow) resolve(data);
    };
    addEventListener('message', listen);
    prepare(frame, resolve);
  });
  document.body.append(frame);
  const seen = await soon(answered);
  frame.remove();
  return seen;
};

const submitted = (enctype) => (target) =>
  withFrame((frame, resolve) => {
    const form = document.createElement('form');
    Object.assign(form, { method: target.method === 'GET' ? 'get' : 'post', enctype, action: target.url });
    form.target = frame.name;
    // With text/plain, the browser joins name and value with "=", so the body can still be JSON.
    const isText = enctype === 'text/plain';
    const isForm = !isText && target.body !== '' && !target.body.startsWith('{');
    const fields = isText ? [[target.body.slice(0, 1), target.body.slice(1)]] : [['outcome', 'approve']];
    for (const [name, value] of isForm ? new URLSearchParams(target.body) : fields) {
      form.append(Object.assign(document.createElement('textarea'), { name, value }));
    }
    document.body.append(form);
    // A new frame first loads an empty page.
    frame.onload = () => {
      frame.onload = () => resolve(frameText(frame));
      form.submit();
      form.remove();
    };
  });

/** Runs a script in a frame with an opaque origin, so that its requests have `Origin: null`. */
const sandboxed = (script) => (target) =>
  withFrame((frame) => {
    const call = `(${script})(${JSON.stringify(target)}).then((text) => parent.postMessage(text, '*'), () => parent.postMessage('', '*'))`;
    frame.srcdoc = `<script>${call.replaceAll('</', '<\\/')}<${'/'}script>`;
  }, 'allow-scripts allow-forms allow-popups');

const worker = async (target) => {
  const code = `fetch(${JSON.stringify(target.url)}, ${JSON.stringify({ method: target.method, body: bodyOf(target) })}).then((r) => r.text()).then(postMessage, () => postMessage(''))`;
  const at = URL.createObjectURL(new Blob([code]));
  const running = new Worker(at);
  const seen = await soon(
    new Promise((resolve) => {
      running.onmessage = ({ data }) => resolve(data);
    }),
  );
  running.terminate();
  return seen;
};

const ways = {
  'fetch cors': fetched({}),
  'fetch cors with cookies': fetched({ credentials: 'include' }),
  'fetch no-cors': fetched({ mode: 'no-cors', credentials: 'include' }),
  'fetch same-origin': fetched({ mode: 'same-origin' }),
  'fetch without referrer': fetched({ referrerPolicy: 'no-referrer' }),
  'fetch keepalive': fetched({ keepalive: true, mode: 'no-cors' }),
  'fetch follows': fetched({ redirect: 'manual', mode: 'no-cors' }),
  'fetch json': typed('application/json'),
  'fetch text': typed('text/plain'),
  'fetch form': typed('application/x-www-form-urlencoded', { mode: 'no-cors' }),
  'fetch json as text': typed('text/plain;charset=application/json', { mode: 'no-cors' }),
  'fetch with a token': fetched({ headers: { Authorization: 'Bearer x' } }),
  'form urlencoded': submitted('application/x-www-form-urlencoded'),
  'form multipart': submitted('multipart/form-data'),
  'form text': submitted('text/plain'),
  img: loaded('img', 'src', (image) => (image.naturalWidth ? 'an image' : '')),
  script: loaded('script', 'src'),
  stylesheet: loaded('link', 'href', ({ sheet }) => [...sheet.cssRules].map(({ cssText }) => cssText).join()),
  iframe: loaded('iframe', 'src', frameText),
  object: loaded('object', 'data', frameText),
  embed: loaded('embed', 'src'),
  video: loaded('video', 'src'),
  track: loaded('audio', 'src'),
  beacon: async ({ url, body }) => {
    navigator.sendBeacon(url, body);
    navigator.sendBeacon(url, new URLSearchParams({ outcome: 'approve' }));
    navigator.sendBeacon(url, new Blob([body], { type: 'text/plain' }));
    return '';
  },
  EventSource: ({ url }) =>
    new Promise((resolve) => {
      const source = new EventSource(url, { withCredentials: true });
      const end = (text) => {
        source.close();
        resolve(text);
      };
      source.onopen = () => end('a stream');
      source.onerror = () => end('');
    }),
  WebSocket: ({ url }) =>
    new Promise((resolve) => {
      const socket = new WebSocket(url.replace('http', 'ws'));
      socket.onopen = () => resolve('a socket');
      socket.onerror = () => resolve('');
    }),
  'window.open': async ({ url }) => {
    const opened = open(url);
    const seen = await soon(openedText(opened));
    opened?.close();
    return seen;
  },
  XMLHttpRequest: (target) =>
    new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.open(target.method, target.url);
      request.withCredentials = true;
      request.onload = () => resolve(request.responseText);
      request.onerror = () => resolve('');
      request.send(bodyOf(target));
    }),
  worker,
  'a ping of a link': async ({ url }) => {
    const link = document.createElement('a');
    Object.assign(link, { href: '#', ping: url });
    link.click();
    return '';
  },
  'sandboxed fetch': sandboxed(
    `({ url, method, body }) => fetch(url, { method, body: method === 'GET' ? undefined : body }).then((r) => r.text())`,
  ),
  'sandboxed no-cors': sandboxed(
    `({ url, method, body }) => fetch(url, { method, mode: 'no-cors', body: method === 'GET' ? undefined : body }).then((r) => r.text())`,
  ),
  'sandboxed form': sandboxed(
    `async ({ url, body }) => { const form = document.createElement('form'); form.method = 'post'; form.action = url; form.enctype = 'text/plain'; const field = document.createElement('textarea'); field.name = body; form.append(field); document.documentElement.append(form); form.submit(); return ''; }`,
  ),
};

/** Sends a request in every way. Resolves with pairs of a way and the text that could be read. */
globalThis.attackWith = async (target) => {
  const tried = Object.entries(ways).map(async ([way, send]) => [way, await soon(send(target))]);
  return Promise.all(tried);
};
