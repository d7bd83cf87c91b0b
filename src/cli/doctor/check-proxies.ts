import type { Env } from '../../base/env.ts';
import { shownProxy } from '../../base/http/proxy-for.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import type { DoctorCheck, DoctorProblem } from './doctor-check.ts';

const PROXY_VARIABLES = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'];
const CERTIFICATE_VARIABLES = ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS'];

/** Lists the variables of proxies and certificates, without passwords. */
export function checkProxies(env: Env): DoctorCheck {
  const names = [
    ...PROXY_VARIABLES.flatMap((name) => [name, name.toUpperCase()]),
    ...CERTIFICATE_VARIABLES,
  ];
  const found = names.flatMap((name) =>
    env[name] ? [[name, shownValue(name, env[name])] as const] : [],
  );
  const problems = CERTIFICATE_VARIABLES.flatMap((name): DoctorProblem[] => {
    const file = env[name];
    if (!file || statOf(file) !== null) return [];
    return [
      {
        severity: 'error',
        message: `${name} names a file that does not exist: ${file}`,
        fix: `Correct ${name}, or remove it.`,
      },
    ];
  });
  const summary =
    found.length === 0 ? 'none' : found.map(([name, value]) => `${name}=${value}`).join(', ');
  return { name: 'proxies', summary, facts: Object.fromEntries(found), problems };
}

function shownValue(name: string, value: string): string {
  return /^(?:http|https|all)_proxy$/i.test(name) ? shownProxy(value) : value;
}
