/** The proxy that the environment asks for. Pure. */
import { BlockList, isIP } from 'node:net';
import { percentDecoded } from '../credentials.ts';
import type { Environment } from '../env-file.ts';
import { UserError } from '../errors.ts';
import { Secret } from '../redact.ts';

export interface Proxy {
  /** The environment variable that names it. */
  readonly variable: string;
  /** Without user name and password. */
  readonly uri: string;
  /** User name and password as a value of the header Proxy-Authorization. */
  readonly authorization?: Secret;
  readonly password?: Secret;
}

/**
 * The proxy for requests to this URL, or undefined if they go directly. HTTPS_PROXY counts before HTTP_PROXY, which is for
 * both protocols; NO_PROXY excludes hosts, with their subdomains. Requests to this machine never take a proxy: it could
 * not reach the same machine, and would read what is sent in plain text. Throws a `UserError` for an unusable value.
 */
export function proxyFor(target: URL, env: Environment): Proxy | undefined {
  const host = bare(target.hostname);
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  if (isThisMachine(host) || isExcluded(host, port, variable(env, 'no_proxy')?.value ?? '')) return undefined;
  const http = variable(env, 'http_proxy');
  const found = target.protocol === 'https:' ? (variable(env, 'https_proxy') ?? http) : http;
  return found && parse(found.name, found.value);
}

/** The first variable of this name in any case that has a value; lower case counts first. */
function variable(env: Environment, lowerCase: string): { name: string; value: string } | undefined {
  const names = Object.keys(env).filter((name) => name.toLowerCase() === lowerCase && env[name]?.trim());
  const name = names.toSorted().at(-1);
  return name === undefined ? undefined : { name, value: env[name]!.trim() };
}

function parse(name: string, value: string): Proxy {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable = url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash;
  const user = percentDecoded(url?.username ?? '');
  const password = percentDecoded(url?.password ?? '');
  if (!isUsable || user === undefined || password === undefined) {
    throw new UserError(`${name} is not the address of an HTTP proxy`, {
      hint: 'expected something like http://proxy.example.com:3128; percent-encode special characters of a password',
    });
  }
  const uri = `${url.protocol}//${url.host}`;
  if (user === '' && password === '') return { variable: name, uri };
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  return { variable: name, uri, authorization: new Secret(authorization), password: new Secret(password) };
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || isIn(LOOPBACK, host);
}

/** Entries of NO_PROXY: `*`, a host with or without a port, an address, or a range of addresses (`10.0.0.0/8`). */
function isExcluded(host: string, port: string, noProxy: string): boolean {
  return noProxy.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true;
    const range = /^([\da-f.:]+)\/(\d{1,3})$/i.exec(entry);
    if (range) return isInRange(host, range[1]!, Number(range[2]));
    const [, name = entry, onlyPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
    const excluded = bare(name.replace(/^\*?\./, ''));
    if (excluded === '' || (onlyPort !== undefined && onlyPort !== port)) return false;
    return host === excluded || host.endsWith(`.${excluded}`);
  });
}

function isInRange(host: string, net: string, prefix: number): boolean {
  const version = isIP(net);
  if (version === 0 || prefix > (version === 4 ? 32 : 128)) return false;
  const range = new BlockList();
  range.addSubnet(net, prefix, version === 4 ? 'ipv4' : 'ipv6');
  return isIn(range, host);
}

function isIn(list: BlockList, host: string): boolean {
  const version = isIP(host);
  return version !== 0 && list.check(host, version === 4 ? 'ipv4' : 'ipv6');
}

/** Without the brackets of an IPv6 address and the dot of an absolute name. */
function bare(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}
