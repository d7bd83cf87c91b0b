import { arch, type as osType, release } from 'node:os';
import type { ServerCapabilities } from '../protocol/generated/types.ts';
import { PROTOCOL_VERSION } from '../protocol/protocol-version.ts';
import { invalidParams } from '../protocol/rpc-error.ts';
import type { MethodTable } from './method.ts';

/** What may stand in an HTTP header: client names go into the userAgent. */
const HEADER_TEXT = /^[\x20-\x7e]+$/;

export interface InitializeDeps {
  home: string;
  /** Of the server itself. */
  version: string;
  platform: NodeJS.Platform;
  capabilities: () => ServerCapabilities;
  /** Tells a connection what is wrong with the configuration, after its handshake. */
  warnOfConfig: (connection: number) => void;
}

/** The handshake. A client can repeat one that was refused. */
export function initializeMethods({ home, version, platform, capabilities, warnOfConfig }: InitializeDeps) {
  const platformOs = platform === 'darwin' ? 'macos' : platform === 'win32' ? 'windows' : platform;
  return {
    initialize: {
      queue: null,
      handle(params, { caller, after }) {
        const { name, version: clientVersion } = params.clientInfo;
        if (!HEADER_TEXT.test(name))
          throw invalidParams(`params.clientInfo.name: ${JSON.stringify(name)} holds what no HTTP header may: visible ASCII is expected`);
        caller.initialize(params);
        after(() => warnOfConfig(caller.id));
        const shownVersion = clientVersion.replace(/[^\x20-\x7e]/g, '?');
        return {
          userAgent: `${name}/${PROTOCOL_VERSION} (${osType()} ${release()}; ${arch()}) heddle/${version} (${name}; ${shownVersion})`,
          codexHome: home,
          platformFamily: platform === 'win32' ? 'windows' : 'unix',
          platformOs,
          protocolVersion: PROTOCOL_VERSION,
          serverInfo: { name: 'heddle', version },
          capabilities: capabilities(),
        };
      },
    },
  } satisfies Partial<MethodTable>;
}
