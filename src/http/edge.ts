import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import * as tls from 'node:tls';
import { hostName, isLoopback } from '../contract/address.ts';
import type { Dialect } from '../wire/dialect.ts';
import { markProxied } from './proxied.ts';
import { endRaw, NO_PROXY, refuse } from './refusal.ts';

/** Options of the TLS and proxy front end. */
export interface EdgeOptions {
  /** The certificate for HTTPS; null for plain HTTP. */
  credentials: { cert: string; key: string } | null;
  /** Hosts that the proxy serves; null without a proxy. */
  aliases: readonly string[] | null;
  /** The address of the emulator, for messages. */
  url: () => string;
  dialect: Dialect;
  /** Called once, when a client does not trust the certificate. */
  onUntrusted: (why: string) => void;
  /** Time limit for a connection to send its first request, handshake included (real time). */
  requestTimeoutMs?: number;
}

/** The first byte of a TLS handshake. No HTTP method begins with it. */
const HANDSHAKE = 0x16;

/** A shorter limit would lose clients on slow machines. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Maximum number of connections without a request (chosen). */
const MAX_BEGINNING = 1_000;

/** A new connection counts as silent only after this time (real time). */
const GRACE_MS = 250;

/**
 * Terminates TLS and acts as a proxy, before a Node server. One port serves both: the first byte shows whether it is TLS
 * or HTTP. If TLS is on, plain HTTP is rejected with a message, except requests to the proxy.
 */
export class Edge {
  readonly #options: EdgeOptions;
  readonly #requestTimeoutMs: number;
  /**
   * Connections without a request, oldest first. The key is the remote address, because TLS wraps the socket in another
   * object.
   */
  readonly #beginning = new Map<string, Beginning>();
  /** TLS connections inside a CONNECT tunnel. */
  readonly #tunneled = new WeakSet<Duplex>();
  /** Functions that start a tunnel, by server. */
  readonly #tunnels = new WeakMap<Server, (socket: Socket) => void>();
  #closed = false;
  #reportedUntrusted = false;

  constructor(options: EdgeOptions) {
    this.#options = options;
    this.#requestTimeoutMs = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  }

  /** Handles the connections of a server. */
  attach(server: Server): void {
    const { credentials } = this.#options;
    // Node's own listeners parse the requests of any stream (documented as injecting a connection).
    const serve = (socket: Socket) => {
      for (const listener of listeners) listener.call(server, socket);
    };
    const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
    const direct = credentials && this.#tlsServer(credentials, serve);
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      this.#begin(socket, (first) => {
        if (direct && first === HANDSHAKE) direct.emit('connection', socket);
        else serve(socket);
      });
    });
    if (credentials === null) return;
    const tunnels = this.#tlsServer(credentials, (socket) => {
      this.#tunneled.add(socket);
      serve(socket);
    });
    this.#tunnels.set(server, (socket) => this.#begin(socket, () => tunnels.emit('connection', socket)));
  }

  #tlsServer(credentials: { cert: string; key: string }, serve: (socket: tls.TLSSocket) => void): tls.Server {
    const server = tls.createServer({ ...credentials, ALPNProtocols: ['http/1.1'] }, (socket) =>
      this.#closed ? socket.destroy() : serve(socket),
    );
    server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
      socket.destroy();
      if (
        this.#reportedUntrusted ||
        !/ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)/.test(error.code ?? '')
      )
        return;
      this.#reportedUntrusted = true;
      // OpenSSL's message also contains its source file and line.
      this.#options.onUntrusted(
        /alert ([a-z ]+):/.exec(error.message)?.[1] ?? 'the client ended the handshake',
      );
    });
    return server;
  }

  /** Counts a connection until its first request, and calls back with its first byte. */
  #begin(socket: Socket, then: (byte: number | undefined) => void): void {
    if (this.#closed) return void socket.destroy();
    if (this.#beginning.size >= MAX_BEGINNING) this.#dropOne();
    const key = remoteEnd(socket);
    const timer = setTimeout(() => socket.destroy(), this.#requestTimeoutMs).unref();
    const beginning = {
      socket,
      timer,
      address: sharingAddress(socket),
      since: performance.now(),
      isSilent: true,
    };
    this.#beginning.set(key, beginning);
    socket.once('close', () => this.#forget(key));
    firstByte(socket, (byte) => {
      beginning.isSilent = false;
      then(byte);
    });
  }

  #forget(key: string): void {
    clearTimeout(this.#beginning.get(key)?.timer);
    this.#beginning.delete(key);
  }

  /**
   * Makes room for a new connection, so that no client can lock out the others. It picks the address with the
   * most connections, and drops its oldest silent connection, or its oldest if none is silent.
   */
  #dropOne(): void {
    const byAddress = new Map<string, [key: string, beginning: Beginning][]>();
    let most: [key: string, beginning: Beginning][] = [];
    for (const entry of this.#beginning) {
      const { address } = entry[1];
      const own = byAddress.get(address) ?? [];
      byAddress.set(address, own);
      own.push(entry);
      if (own.length > most.length) most = own;
    }
    const silent = most.find(([, { isSilent }]) => isSilent);
    const isSilent = silent !== undefined && performance.now() - silent[1].since > GRACE_MS;
    const dropped = isSilent ? silent : most[0];
    if (!dropped) return;
    this.#forget(dropped[0]);
    dropped[1].socket.destroy();
  }

  /** Whether a request may pass to the routes. If not, it has been answered. */
  admits(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    this.#forget(remoteEnd(incoming.socket));
    const reason = this.#tunneled.has(incoming.socket)
      ? this.#tunneledProblem(incoming)
      : this.#directProblem(incoming);
    if (reason === undefined) return true;
    refuse(outgoing, reason.status, reason.text, this.#options.dialect);
    return false;
  }

  /** A request in a tunnel must be for an alias, too. */
  #tunneledProblem(incoming: IncomingMessage): Problem | undefined {
    const { host = '' } = incoming.headers;
    if (!this.#isAlias(host, 443)) return this.#notProxied(host);
    markProxied(incoming);
    return undefined;
  }

  #directProblem(incoming: IncomingMessage): Problem | undefined {
    const { credentials, aliases, url } = this.#options;
    const [, scheme, authority = '', rest = ''] =
      /^(https?):\/\/([^/?#]*)(.*)$/is.exec(incoming.url ?? '') ?? [];
    if (scheme !== undefined && aliases !== null) {
      // Some clients request https URLs from a proxy in plain HTTP, without a tunnel.
      if (!this.#isAlias(authority, scheme.toLowerCase() === 'https' ? 443 : 80))
        return this.#notProxied(authority);
      // From here on it is an ordinary request.
      incoming.url = rest.startsWith('/') ? rest : `/${rest}`;
      incoming.headers.host = authority;
      markProxied(incoming);
      return undefined;
    }
    if (credentials === null || incoming.socket instanceof tls.TLSSocket) return undefined;
    const name = scheme === undefined ? undefined : nameIn(authority);
    const text =
      name === undefined || isLoopback(name)
        ? `this port serves HTTPS only: use ${url()}`
        : `the proxy is off: start with --proxy --host-alias ${name}`;
    return { status: 400, text };
  }

  /** Answers a CONNECT. @param head the bytes after the request */
  connect(server: Server, incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { url: target = '' } = incoming;
    this.#forget(remoteEnd(incoming.socket));
    const problem = this.#connectProblem(target, socket);
    if (problem) {
      endRaw(socket, problem.status, problem.text, this.#options.dialect);
      return;
    }
    socket.write('HTTP/1.1 200 Connection Established\r\nX-Gateway-Sim: 1\r\n\r\n');
    if (head.length) socket.unshift(head);
    if (socket instanceof Socket) this.#tunnels.get(server)?.(socket);
    else socket.destroy();
  }

  #connectProblem(target: string, socket: Duplex): Problem | undefined {
    const { credentials, aliases } = this.#options;
    if (aliases === null) return { status: 405, text: NO_PROXY };
    if (this.#tunneled.has(socket) || !this.#isAlias(target, 443)) return this.#notProxied(target);
    return credentials ? undefined : { status: 403, text: `CONNECT ${target} needs HTTPS: start with --tls` };
  }

  /** @param authority a host, with or without a port. @param port the required port, and the default */
  #isAlias(authority: string, port: number): boolean {
    const [, name = '', own] = /^([^@:]+)(?::(\d{1,5}))?$/.exec(authority) ?? [];
    const isKnown = this.#options.aliases?.includes(name.toLowerCase()) ?? false;
    return isKnown && (own === undefined || Number(own) === port);
  }

  #notProxied(authority: string): Problem {
    const { aliases, url } = this.#options;
    const known = aliases?.length ? aliases.join(', ') : 'no host (add one with --host-alias)';
    const name = nameIn(authority);
    const isOther = name !== undefined && !isLoopback(name) && !aliases?.includes(name);
    const fix = isOther
      ? `If this is the gateway, start with --host-alias ${name}. Otherwise set no_proxy=${name}`
      : `Set no_proxy for the emulator's own address, ${url()}`;
    const text = `this proxy serves only ${known}, http on port 80 and https on port 443 (got "${authority.slice(0, 80)}"). ${fix}`;
    return { status: 403, text };
  }

  /** Closes the connections without a request. The servers close the others. */
  close(): void {
    this.#closed = true;
    for (const { socket } of this.#beginning.values()) socket.destroy();
  }
}

/** The host name before the port; undefined for an IP address or an invalid name. */
const nameIn = (authority: string) => hostName(authority.replace(/:\d*$/, ''));

/** Waits for the first byte of a connection without consuming it. */
function firstByte(socket: Socket, then: (byte: number | undefined) => void): void {
  const drop = () => socket.destroy();
  socket.on('error', drop);
  socket.on('end', drop);
  const onReadable = () => {
    const first: Buffer | null = socket.read(1);
    if (first === null) return;
    socket.off('readable', onReadable);
    socket.off('error', drop);
    socket.off('end', drop);
    socket.unshift(first);
    then(first[0]);
  };
  socket.on('readable', onReadable);
}

/** A connection without a request. */
interface Beginning {
  socket: Socket;
  timer: NodeJS.Timeout;
  /** See `sharingAddress`. */
  address: string;
  since: number;
  /** Whether it has not yet sent its first byte. */
  isSilent: boolean;
}

const remoteEnd = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

/** The address under which connections are counted. One machine has millions of loopback addresses. */
const sharingAddress = ({ remoteAddress = '' }: Socket) =>
  /^(::ffff:)?127\./.test(remoteAddress) ? '127.0.0.0/8' : remoteAddress;

interface Problem {
  status: number;
  text: string;
}
