import { execFile } from 'node:child_process';

/** Asks for a URL through a proxy. Resolves with the status code, and the exit code of curl. */
export function curl(url: string, proxy: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      'curl',
      ['-s', '-o', '/dev/null', '-w', '%{http_code}', '--noproxy', '', '-x', proxy, url],
      (error, stdout) => resolve(`${stdout} ${error?.code ?? 0}`),
    );
  });
}
