import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import {
  createFetch,
  type Fetch,
  type FetchDeps,
  type FetchOptions,
} from '../../base/http/create-fetch.ts';
import { HttpClient, type HttpClientDeps } from '../../base/http/http-client.ts';
import { proxyFor } from '../../base/http/proxy-for.ts';
import { addressKind } from '../../policy/network/address-kind.ts';
import { readHost } from '../../policy/network/read-host.ts';

/** Returns all addresses of a name. */
type Resolve = (name: string) => Promise<LookupAddress[]>;

const resolveBySystem: Resolve = async (name) =>
  promisify(systemLookup)(name, { all: true, verbatim: true });

/** The server that a login is for. */
export interface LoginTarget {
  url: string;
  /** Whether the user allows its login to reach private addresses. */
  reachesPrivate: boolean;
}

/**
 * The HTTP of MCP servers and their logins. A server names the addresses of its login. If it is
 * reached at a public address itself, the requests of its login go to public addresses only: not to
 * this machine, to a private network, or to the metadata of a cloud.
 */
export class LoginWeb {
  /** For requests to the servers themselves. */
  readonly web: FetchDeps;
  readonly #checked: FetchDeps;
  readonly #resolve: Resolve;
  /**
   * Names that have ever led to a public address. Who owns a name can change its addresses at any
   * time.
   */
  readonly #publicNames = new Set<string>();

  constructor(deps: Omit<HttpClientDeps, 'lookup'>, resolve: Resolve = resolveBySystem) {
    this.#resolve = resolve;
    this.web = {
      client: new HttpClient({ ...deps, lookup: lookupBy((name) => this.#noted(name)) }),
      env: deps.env,
    };
    this.#checked = {
      client: new HttpClient({ ...deps, lookup: lookupBy((name) => this.#publicOnly(name)) }),
      env: deps.env,
    };
  }

  /**
   * Returns the `fetch` for the requests of a login. It rejects with a TypeError if an address is
   * not allowed.
   */
  loginFetch({ url: server, reachesPrivate }: LoginTarget, options: FetchOptions): Fetch {
    const free = createFetch(this.web, options);
    const checked = createFetch(this.#checked, options);
    return async (address, init) => {
      const url = new URL(address);
      if (reachesPrivate || !(await this.#isPublic(new URL(server)))) return free(url, init);
      refusePrivate(hostOf(url));
      // A proxy resolves the name itself.
      return proxyFor(url, this.web.env) === null ? checked(url, init) : free(url, init);
    };
  }

  /**
   * Rejects if the user's browser must not be sent to an address that the server names. The browser
   * resolves the name again, so this holds for the moment.
   */
  async checkShown({ url: server, reachesPrivate }: LoginTarget, address: string): Promise<void> {
    if (reachesPrivate || !(await this.#isPublic(new URL(server)))) return;
    const url = new URL(address);
    refusePrivate(hostOf(url));
    if (isIP(hostOf(url)) === 0 && proxyFor(url, this.web.env) === null)
      await this.#publicOnly(hostOf(url));
  }

  /** Whether a server is reached at a public address. If that is not known, it counts as public. */
  async #isPublic(url: URL): Promise<boolean> {
    const host = hostOf(url);
    if (isIP(host) !== 0) return isPublic(host);
    if (this.#publicNames.has(host)) return true;
    try {
      return (await this.#noted(host)).some(({ address }) => isPublic(address));
    } catch {
      return true;
    }
  }

  async #noted(name: string): Promise<LookupAddress[]> {
    const addresses = await this.#resolve(name);
    if (addresses.some(({ address }) => isPublic(address)))
      this.#publicNames.add(name.toLowerCase());
    return addresses;
  }

  async #publicOnly(name: string): Promise<LookupAddress[]> {
    const addresses = await this.#resolve(name);
    const closed = addresses.find(({ address }) => !isPublic(address));
    if (closed !== undefined) throw new Error(refusal(name, closed.address));
    return addresses;
  }
}

function refusal(host: string, address: string): string {
  const place = host === address ? host : `${host} (${address})`;
  return (
    `the server names ${place} for its login, which is not a public address, although the server itself has one. ` +
    'If that is right, set `oauth.allow_private_addresses = true` for this server in config.toml'
  );
}

/**
 * Throws a TypeError for a private address, and for a name of this machine, which browsers do not
 * resolve.
 */
function refusePrivate(host: string): void {
  if (isIP(host) === 0 ? /(?:^|\.)localhost\.?$/.test(host) : !isPublic(host))
    throw new TypeError(refusal(host, host));
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').toLowerCase();
}

/**
 * A public address of this machine is not public: a firewall may protect its services only from
 * outside.
 */
function isPublic(address: string): boolean {
  const plain = readHost(address) ?? address;
  if (addressKind(plain) !== 'public') return false;
  return !Object.values(networkInterfaces()).some((entries) =>
    (entries ?? []).some((own) => (readHost(own.address) ?? own.address) === plain),
  );
}

function lookupBy(resolve: Resolve): LookupFunction {
  return (name, { all }, callback) => {
    resolve(name).then(
      (found) => {
        const [first] = found;
        if (first === undefined)
          callback(
            Object.assign(new Error(`${name} has no address`), { code: 'ENOTFOUND' }),
            '',
            0,
          );
        else if (all === true) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}
