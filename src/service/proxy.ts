/** The proxy that the environment asks for. */
import { BlockList, isIP } from 'node:net';
import { Agent, EnvHttpProxyAgent, type Dispatcher } from 'undici';
import { percentDecoded } from '../settings/credentials.ts';
import type { Environment } from '../settings/env-file.ts';
import { UserError } from '../errors.ts';
import { Secret } from '../redact.ts';

export interface Proxy {
  /** The environment variable that names it. */
  readonly variable: string;
  /** With user name and password, as undici wants it. */
  readonly uri: Secret;
  /** Hosts that are reached without it, as in NO_PROXY. */
  readonly noProxy: string;
  /** The password, as it is and as it is sent. */
  readonly secrets: readonly Secret[];
}

/**
 * The proxy for requests to this URL, unless NO_PROXY excludes it (which undici decides), or undefined if there is none.
 * HTTPS_PROXY counts before HTTP_PROXY, which is for both protocols. Requests to this machine never use a proxy: it could not reach this
 * machine, and would read the plain text of the requests. Throws a `UserError` for an unusable value.
 */
export function proxyFor(target: URL, env: Environment): Proxy | undefined {
  if (isThisMachine(target.hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1'))) return undefined;
  const http = variable(env, 'http_proxy');
  const found = target.protocol === 'https:' ? (variable(env, 'https_proxy') ?? http) : http;
  return found && parse(found.name, found.value, variable(env, 'no_proxy')?.value ?? '');
}

/** Connects through the proxy, if there is one. */
export function agentFor(proxy: Proxy | undefined, settings: Agent.Options): Dispatcher {
  if (!proxy) return new Agent(settings);
  const uri = proxy.uri.reveal();
  return new EnvHttpProxyAgent({ ...settings, httpProxy: uri, httpsProxy: uri, noProxy: proxy.noProxy });
}

/** The first variable of this name in any case that has a value; lower case counts first. */
function variable(env: Environment, lowerCase: string): { name: string; value: string } | undefined {
  const names = Object.keys(env).filter((name) => name.toLowerCase() === lowerCase && env[name]?.trim());
  const name = names.toSorted().at(-1);
  return name === undefined ? undefined : { name, value: env[name]!.trim() };
}

function parse(name: string, value: string, noProxy: string): Proxy {
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
  const sent = Buffer.from(`${user}:${password}`).toString('base64');
  const secrets = password === '' ? [] : [password, url.password, sent].map((each) => new Secret(each));
  return { variable: name, uri: new Secret(url.href), noProxy, secrets };
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

function isThisMachine(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return /^(.*\.)?localhost\.?$/.test(host);
  return LOOPBACK.check(host, version === 4 ? 'ipv4' : 'ipv6');
}
