import type { Env } from '../../base/env.ts';
import { breakText } from '../../base/http/break-text.ts';
import type { HttpClient } from '../../base/http/http-client.ts';
import { NO_LIMIT_MS } from '../../base/http/http-exchange.ts';
import { proxyFor } from '../../base/http/proxy-for.ts';
import { JsonText } from '../../base/text/json-text.ts';

export interface PostDeps {
  http: HttpClient;
  env: Env;
}

interface Posted {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Of a longer answer, only so much is read. */
  charsMax: number;
}

/**
 * Posts JSON, and reads the answer. Null: the signal aborted first. Rejects with an error for
 * people.
 */
export async function postJson(
  { url: address, headers, body, charsMax }: Posted,
  { http, env }: PostDeps,
  signal: AbortSignal,
): Promise<{ status: number; text: string } | null> {
  const url = new URL(address);
  const proxy = proxyFor(url, env);
  if (proxy !== null && 'problem' in proxy) throw new Error(proxy.problem);
  const httpRequest = {
    method: 'POST',
    url,
    proxy,
    headers: { 'content-type': 'application/json', ...headers },
    body: new JsonText([Buffer.from(body)]),
    connectMsMax: NO_LIMIT_MS,
    idleMsMax: NO_LIMIT_MS,
  };
  const exchange = await http.ask(httpRequest, signal);
  try {
    const head = await exchange.head();
    let text = '';
    let read = 'broken' in head ? head : await exchange.read();
    while (typeof read === 'string' && text.length < charsMax) {
      text += read;
      read = await exchange.read();
    }
    if (typeof read === 'object' && read?.broken === 'aborted') return null;
    if (typeof read === 'object' && read !== null) throw new Error(breakText(read, httpRequest));
    return 'status' in head ? { status: head.status, text: text.slice(0, charsMax) } : null;
  } finally {
    exchange.close();
  }
}
