import { connect, type Socket } from 'node:net';

/** A response as received. */
interface RawAnswer {
  /** 0 if the connection closed without a byte. */
  status: number;
  /** By lower-case name. If a field is repeated, the last one counts. */
  headers: Record<string, string>;
  body: string;
  /** The complete response. */
  text: string;
  /** Whether the connection was reset. */
  reset: boolean;
}

/** The bytes of a request whose connection closes after the response; an undefined header is omitted. */
export function requestBytes(
  method: string,
  path: string,
  headers: Record<string, string | undefined> = {},
  body = '',
  version = '1.1',
): Buffer {
  const length = String(Buffer.byteLength(body));
  const all = { Host: '127.0.0.1', Connection: 'close', 'Content-Length': length, ...headers };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}: ${value}\r\n`,
  );
  return Buffer.from(`${method} ${path} HTTP/${version}\r\n${lines.join('')}\r\n${body}`);
}

/**
 * Sends exact bytes and reads until the server closes the connection, so the request needs `Connection: close`.
 *
 * @param request text is sent as Latin-1, one byte per character
 */
export const rawExchange = (port: number, request: string | Buffer): Promise<RawAnswer> =>
  exchange(connect(port, '127.0.0.1'), request);

/** `rawExchange` on a connection. */
export function exchange(socket: Socket, request: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let reset = false;
    socket.write(typeof request === 'string' ? Buffer.from(request, 'latin1') : request);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => {
      reset = true;
    });
    socket.on('close', () => resolve(parsed(Buffer.concat(chunks).toString('latin1'), reset)));
  });
}

/** The status and the headers of a response. @param head the text before the empty line */
export function readHead(head: string): Pick<RawAnswer, 'status' | 'headers'> {
  const [first = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0), headers };
}

function parsed(text: string, reset: boolean): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  return {
    ...readHead(text.slice(0, Math.max(end, 0))),
    body: end < 0 ? '' : text.slice(end + 4),
    text,
    reset,
  };
}
