import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import * as tls from 'node:tls';
import { hostName, isLoopback } from '../contract/address.ts';
import type { Dialect } from '../wire/dialect.ts';
import { markProxied } from './proxied.ts';
import { endRaw, NO_PROXY, refuse } from './refusal.ts';

/** What stands between the socket and the routes. */
export interface EdgeOptions {
  /** With which certificate https is spoken; null for plain http. */
  credentials: { cert: string; key: string } | null;
  /** The hosts that the proxy answers for; null where it is none. */
  aliases: readonly string[] | null;
  /** Where the emulator itself is, for messages. */
  url: () => string;
  dialect: Dialect;
  /** Gets told, once, that a client does not trust the certificate. */
  onUntrusted: (why: string) => void;
  /** How long a connection has to say what it wants, with its handshake, in milliseconds of real time. */
  patienceMs?: number;
}

/** The first byte of a TLS handshake; no method of HTTP begins with it. */
const HANDSHAKE = 0x16;

/** What is patient for less would lose clients on slow machines. */
const PATIENCE_MS = 10_000;

/** Maximum connections that have not come as far as a request (chosen). */
const MAX_BEGINNING = 1_000;

/** A client that has just connected is not silent yet, in milliseconds of real time. */
const GRACE_MS = 250;

/**
 * Speaks TLS, and answers as a proxy, in front of a server of Node's. One port does it all: the first byte tells TLS
 * from HTTP, and plain HTTP is refused with a sentence where TLS is spoken, but for what is meant for the proxy.
 */
export class Edge {
  readonly #options: EdgeOptions;
  readonly #patienceMs: number;
  /**
   * Connections that have not come as far as a request, the oldest first, by their other end: TLS makes another object
   * of them.
   */
  readonly #beginning = new Map<string, Beginning>();
  /** The TLS connections that came by a CONNECT. */
  readonly #tunneled = new WeakSet<Duplex>();
  /** What begins a tunnel to a server. */
  readonly #tunnels = new WeakMap<Server, (socket: Socket) => void>();
  #closed = false;
  #toldUntrusted = false;

  constructor(options: EdgeOptions) {
    this.#options = options;
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
  }

  /** Takes over the connections of a server. */
  attach(server: Server): void {
    const { credentials } = this.#options;
    // What makes requests of the bytes of a connection: it takes any stream (documented as injecting a connection).
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
        this.#toldUntrusted ||
        !/ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)/.test(error.code ?? '')
      )
        return;
      this.#toldUntrusted = true;
      // OpenSSL tells its own file and line, too.
      this.#options.onUntrusted(/alert ([a-z ]+):/.exec(error.message)?.[1] ?? 'it ended the handshake');
    });
    return server;
  }

  /** Counts a connection until a request can come by it, and gives its first byte away. */
  #begin(socket: Socket, then: (byte: number | undefined) => void): void {
    if (this.#closed) return void socket.destroy();
    if (this.#beginning.size >= MAX_BEGINNING) this.#dropOne();
    const key = otherEnd(socket);
    const timer = setTimeout(() => socket.destroy(), this.#patienceMs).unref();
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
   * Makes room for a new connection, so that nobody keeps others out: of the address that has most of them the oldest
   * one goes that has said nothing for a while, else the oldest one.
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

  /** Whether a request may go on to the routes; else it was answered. */
  admits(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    this.#forget(otherEnd(incoming.socket));
    const reason = this.#tunneled.has(incoming.socket)
      ? this.#tunneledProblem(incoming)
      : this.#directProblem(incoming);
    if (reason === undefined) return true;
    refuse(outgoing, reason.status, reason.text, this.#options.dialect);
    return false;
  }

  /** A request by a CONNECT is for one of the aliases too. */
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
      // Some clients ask a proxy for an https address in plain http, without a tunnel.
      if (!this.#isAlias(authority, scheme.toLowerCase() === 'https' ? 443 : 80))
        return this.#notProxied(authority);
      // From here on it is a request like any other.
      incoming.url = rest.startsWith('/') ? rest : `/${rest}`;
      incoming.headers.host = authority;
      markProxied(incoming);
      return undefined;
    }
    if (credentials === null || incoming.socket instanceof tls.TLSSocket) return undefined;
    const name = scheme === undefined ? undefined : nameIn(authority);
    const text =
      name === undefined || isLoopback(name)
        ? `this port speaks https: use ${url()}`
        : `gateway-sim is no proxy here: start with --proxy --host-alias ${name}`;
    return { status: 400, text };
  }

  /** Answers a CONNECT. @param head what came behind it */
  connect(server: Server, incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { url: target = '' } = incoming;
    this.#forget(otherEnd(incoming.socket));
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
    return credentials ? undefined : { status: 403, text: `CONNECT ${target} needs https: start with --tls` };
  }

  /** @param authority a host, with or without a port. @param port the one that it must have, or that it has without saying so */
  #isAlias(authority: string, port: number): boolean {
    const [, name = '', own] = /^([^@:]+)(?::(\d{1,5}))?$/.exec(authority) ?? [];
    const isKnown = this.#options.aliases?.includes(name.toLowerCase()) ?? false;
    return isKnown && (own === undefined || Number(own) === port);
  }

  #notProxied(authority: string): Problem {
    const { aliases, url } = this.#options;
    const known = aliases?.length ? aliases.join(', ') : 'no host: none was named with --host-alias';
    const name = nameIn(authority);
    const isOther = name !== undefined && !isLoopback(name) && !aliases?.includes(name);
    const fix = isOther
      ? `For the gateway start with --host-alias ${name}, for any other set no_proxy=${name}`
      : `The emulator's own address is ${url()}: set no_proxy for it`;
    const text = `this proxy answers for ${known}, http on port 80 and https on port 443 (got "${authority.slice(0, 80)}"); nothing is passed on. ${fix}`;
    return { status: 403, text };
  }

  /** Ends what has not come as far as a request; what has is left to the servers. */
  close(): void {
    this.#closed = true;
    for (const { socket } of this.#beginning.values()) socket.destroy();
  }
}

/** The host name in front of a port; undefined for an address, and for what is none. */
const nameIn = (authority: string) => hostName(authority.replace(/:\d*$/, ''));

/** Waits for the first byte of a connection, and leaves it there. */
function firstByte(socket: Socket, then: (byte: number | undefined) => void): void {
  const drop = () => socket.destroy();
  socket.on('error', drop);
  socket.on('end', drop);
  const look = () => {
    const first: Buffer | null = socket.read(1);
    if (first === null) return;
    socket.off('readable', look);
    socket.off('error', drop);
    socket.off('end', drop);
    socket.unshift(first);
    then(first[0]);
  };
  socket.on('readable', look);
}

/** A connection that has not come as far as a request. */
interface Beginning {
  socket: Socket;
  timer: NodeJS.Timeout;
  /** As `sharingAddress` gives it. */
  address: string;
  since: number;
  /** Not even its first byte has come. */
  isSilent: boolean;
}

const otherEnd = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

/** What shares the room for connections: one machine has millions of loopback addresses of its own. */
const sharingAddress = ({ remoteAddress = '' }: Socket) =>
  /^(::ffff:)?127\./.test(remoteAddress) ? '127.0.0.0/8' : remoteAddress;

interface Problem {
  status: number;
  text: string;
}
