import { connect } from 'node:net';

/** An answer as it stood on the wire. */
export interface RawAnswer {
  /** 0 when the connection closed without a byte. */
  status: number;
  /** Header fields by lower-case name; of a repeated one the last. */
  headers: Record<string, string>;
  body: string;
  /** All of it. */
  text: string;
  /** Whether the connection was reset. */
  reset: boolean;
}

/**
 * Sends bytes as they are and reads until the server closes; ask it to with `Connection: close`.
 *
 * @param request text is sent as Latin-1, one byte a character
 */
export function rawExchange(port: number, request: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let reset = false;
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(typeof request === 'string' ? Buffer.from(request, 'latin1') : request);
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => {
      reset = true;
    });
    socket.on('close', () => resolve(parsed(Buffer.concat(chunks).toString('latin1'), reset)));
  });
}

function parsed(text: string, reset: boolean): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, Math.max(end, 0)).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0);
  return { status, headers, body: end < 0 ? '' : text.slice(end + 4), text, reset };
}
