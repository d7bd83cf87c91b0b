import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

interface Posted {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Of a longer answer, only so much is read. */
  charsMax: number;
}

/** Posts JSON, and reads the answer. Null: the signal aborted first. Rejects with the system's error. */
export function postJson({ url, headers, body, charsMax }: Posted, signal: AbortSignal): Promise<{ status: number; text: string } | null> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => (signal.aborted ? resolve(null) : reject(error));
    const send = url.startsWith('https:') ? requestHttps : requestHttp;
    const all = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)), ...headers };
    const request = send(url, { method: 'POST', headers: all, signal, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text = (text + part).slice(0, charsMax);
      });
      response.on('error', fail);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on('error', fail);
    request.end(body);
  });
}
