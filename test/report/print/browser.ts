/** A real browser, driven over the DevTools protocol. */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'undici';

/** Its path; undefined if none is installed. */
export const BROWSER = ['chromium', 'chromium-browser', 'google-chrome']
  .flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, name)))
  .find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

/** Starts it in a profile of its own, which is removed after the test. */
export async function startBrowser(...options: readonly string[]) {
  const profile = await mkdtemp(join(tmpdir(), 'backfill-browser-'));
  onTestFinished(() => rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  const quiet = ['quic', 'background-networking', 'component-update', 'sync', 'gpu', 'dev-shm-usage'];
  const args = ['--headless', '--no-sandbox', '--no-first-run', ...quiet.map((what) => `--disable-${what}`)];
  return spawn(BROWSER!, [...args, `--user-data-dir=${profile}`, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
}

export interface BrowserPage {
  /** The value of an expression in the page. */
  evaluate(expression: string): Promise<unknown>;
  /** Sends a command of the protocol to the page. */
  send(method: string, params?: object): Promise<Record<string, unknown>>;
}

/** Opens an address in a dark browser window of 390 by 844 pixels. */
export async function openPage(address: string): Promise<BrowserPage> {
  const browser = await startBrowser('--remote-debugging-port=0');
  const ended = new Promise((resolve) => browser.once('close', resolve));
  onTestFinished(async () => {
    browser.kill('SIGKILL');
    await ended;
  });
  const devTools = await new Promise<string>((resolve) => {
    let text = '';
    browser.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const found = /DevTools listening on (\S+)\s/.exec(text);
      if (found) resolve(found[1]!);
    });
  });
  const socket = new WebSocket(devTools);
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  const answers = new Map<number, (result: Record<string, unknown>) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown> };
    if (id !== undefined) answers.get(id)?.(result ?? {});
  });
  const session: { sessionId?: unknown } = {};
  const send: BrowserPage['send'] = (method, params = {}) => {
    const id = answers.size + 1;
    return new Promise((resolve) => {
      answers.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params, ...session }));
    });
  };
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  session.sessionId = (await send('Target.attachToTarget', { targetId, flatten: true })).sessionId;
  await send('Emulation.setDeviceMetricsOverride', { width: 390, height: 844, deviceScaleFactor: 1, mobile: true });
  await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
  await send('Page.navigate', { url: address });
  const evaluate = async (expression: string): Promise<unknown> =>
    ((await send('Runtime.evaluate', { expression })).result as { value?: unknown } | undefined)?.value;
  return { send, evaluate };
}
