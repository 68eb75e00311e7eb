import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import * as tls from 'node:tls';
import { isLoopback } from '../contract/address.ts';
import { endRaw, type Front, nameIn, noProxy, proxied, rejectRequest } from './listener.ts';

export interface FrontOptions {
  /** The certificate for HTTPS; null for plain HTTP. */
  credentials: { cert: string; key: string } | null;
  /** Hosts that the proxy serves; null without a proxy. */
  aliases: readonly string[] | null;
  /** The address of the emulator, for messages. */
  url: () => string;
  /** Called once, when a client does not trust the certificate. */
  onUntrusted: (why: string) => void;
  /** Called for each request to the proxy that is rejected. */
  onRejected: (host: string, why: string) => void;
  /** Time limit for a connection to send its first request, handshake included (real time). */
  requestTimeoutMs?: number;
}

/** The first byte of a TLS handshake. No HTTP method begins with it. */
const HANDSHAKE = 0x16;

/** A shorter limit would lose clients on slow machines. */
const REQUEST_TIMEOUT_MS = 10_000;

type Problem = readonly [status: number, text: string];

/**
 * Terminates TLS and acts as a proxy, before a Node server. One port serves both: the first byte shows whether it is TLS
 * or HTTP. If TLS is on, plain HTTP is rejected with a message, except requests to the proxy.
 */
export function createFront(options: FrontOptions): Front {
  const { credentials, aliases, url, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  /**
   * Connections without a request. The key is the remote address, because TLS wraps the socket in another
   * object.
   */
  const waiting = new Map<string, { socket: Socket; timer: NodeJS.Timeout }>();
  /** TLS connections inside a CONNECT tunnel. */
  const tunneled = new WeakSet<Duplex>();
  let isClosed = false;
  let hasReported = false;

  /** Keeps a connection until its first request, and calls back with its first byte, which is not consumed. */
  function begin(socket: Socket, then: (byte: number | undefined) => void): void {
    const drop = () => socket.destroy();
    if (isClosed) return void drop();
    const key = remoteEnd(socket);
    waiting.set(key, { socket, timer: setTimeout(drop, requestTimeoutMs).unref() });
    socket.once('close', () => forget(key));
    const onReadable = () => {
      const first: Buffer | null = socket.read(1);
      if (first === null) return;
      socket.off('readable', onReadable).off('error', drop).off('end', drop);
      socket.unshift(first);
      then(first[0]);
    };
    socket.on('readable', onReadable).on('error', drop).on('end', drop);
  }

  function forget(key: string): void {
    clearTimeout(waiting.get(key)?.timer);
    waiting.delete(key);
  }

  function tlsServer(
    pair: { cert: string; key: string },
    serve: (socket: tls.TLSSocket) => void,
  ): tls.Server {
    const server = tls.createServer({ ...pair, ALPNProtocols: ['http/1.1'] }, (socket) =>
      isClosed ? socket.destroy() : serve(socket),
    );
    server.on('tlsClientError', ({ code = '', message }: NodeJS.ErrnoException, socket) => {
      socket.destroy();
      if (hasReported || !/ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)/.test(code)) return;
      hasReported = true;
      // OpenSSL's message also contains its source file and line.
      options.onUntrusted(/alert ([a-z ]+):/.exec(message)?.[1] ?? 'the client ended the handshake');
    });
    return server;
  }

  /**
   * A request to the proxy becomes an ordinary request. A request in a tunnel must be for an alias, too.
   *
   * @returns `authority`: the host that a client expects behind the proxy, if it uses one
   */
  function requestProblem(incoming: IncomingMessage): { problem?: Problem; authority?: string } {
    if (tunneled.has(incoming.socket)) {
      const { host = '' } = incoming.headers;
      if (!isAlias(host, 443)) return { problem: notProxied(host), authority: host };
      proxied.add(incoming);
      return {};
    }
    const [, scheme, authority = '', rest = ''] =
      /^(https?):\/\/([^/?#]*)(.*)$/is.exec(incoming.url ?? '') ?? [];
    if (scheme !== undefined && aliases !== null) {
      // Some clients request https URLs from a proxy in plain HTTP, without a tunnel.
      const port = scheme.toLowerCase() === 'https' ? 443 : 80;
      if (!isAlias(authority, port)) return { problem: notProxied(authority), authority };
      incoming.url = rest.startsWith('/') ? rest : `/${rest}`;
      incoming.headers.host = authority;
      proxied.add(incoming);
      return {};
    }
    if (credentials === null || incoming.socket instanceof tls.TLSSocket) return {};
    const name = scheme === undefined ? undefined : nameIn(authority);
    return name === undefined || isLoopback(name)
      ? { problem: [400, `this port serves HTTPS only: use ${url()}`] }
      : { problem: [400, `the proxy is off: start with --proxy --host-alias ${name}`], authority };
  }

  function connectProblem(target: string, socket: Duplex): Problem | undefined {
    if (aliases === null) return [405, noProxy(target)];
    if (tunneled.has(socket) || !isAlias(target, 443)) return notProxied(target);
    return credentials ? undefined : [403, `CONNECT ${target} needs HTTPS: start with --tls`];
  }

  /** @param authority a host, with or without a port. @param port the required port, and the default */
  function isAlias(authority: string, port: number): boolean {
    const [, name = '', own] = /^([^@:]+)(?::(\d{1,5}))?$/.exec(authority) ?? [];
    const isKnown = aliases?.includes(name.toLowerCase()) ?? false;
    return isKnown && (own === undefined || Number(own) === port);
  }

  function notProxied(authority: string): Problem {
    const known = aliases?.length ? aliases.join(', ') : 'no host (add one with --host-alias)';
    const name = nameIn(authority);
    const isOther = name !== undefined && !isLoopback(name) && !aliases?.includes(name);
    const fix = isOther
      ? `If this is the gateway, start with --host-alias ${name}. Otherwise set no_proxy=${name}`
      : `Set no_proxy for the emulator's own address, ${url()}`;
    const text = `this proxy serves only ${known}, http on port 80 and https on port 443 (got "${authority.replace(/^.*@/, '…@').slice(0, 80)}"). ${fix}`;
    return [403, text];
  }

  return {
    attach(server) {
      const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
      // Node's own listeners parse the requests of any stream (documented as injecting a connection).
      const serve = (socket: Socket) => {
        for (const listener of listeners) listener.call(server, socket);
      };
      const direct = credentials && tlsServer(credentials, serve);
      const tunnels =
        credentials &&
        tlsServer(credentials, (socket) => {
          tunneled.add(socket);
          serve(socket);
        });
      server.removeAllListeners('connection');
      server.on('connection', (socket: Socket) =>
        begin(socket, (first) => {
          if (direct && first === HANDSHAKE) direct.emit('connection', socket);
          else serve(socket);
        }),
      );
      return (incoming, socket, head) => {
        const { url: target = '' } = incoming;
        forget(remoteEnd(incoming.socket));
        const problem = connectProblem(target, socket);
        if (problem) {
          options.onRejected(target, problem[1]);
          return endRaw(socket, ...problem);
        }
        socket.write('HTTP/1.1 200 Connection Established\r\nX-Gateway-Sim: 1\r\n\r\n');
        if (head.length) socket.unshift(head);
        if (socket instanceof Socket) begin(socket, () => tunnels?.emit('connection', socket));
        else socket.destroy();
      };
    },

    admits(incoming, outgoing) {
      forget(remoteEnd(incoming.socket));
      const { problem, authority } = requestProblem(incoming);
      if (problem === undefined) return true;
      if (authority !== undefined) options.onRejected(authority, problem[1]);
      rejectRequest(outgoing, ...problem);
      return false;
    },

    close() {
      isClosed = true;
      for (const { socket } of waiting.values()) socket.destroy();
    },
  };
}

const remoteEnd = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
