import { arch, type as osType, release } from 'node:os';
import type { ServerCapabilities } from '../protocol/generated/types.ts';
import { PROTOCOL_VERSION } from '../protocol/protocol-version.ts';
import { invalidParams } from '../protocol/rpc-error.ts';
import { type HandshakeMethods, unqueued } from './requested/method.ts';

/** The characters that an HTTP header allows: the client's name becomes part of the userAgent. */
const HEADER_TEXT = /^[\x20-\x7e]+$/;

export interface InitializeOptions {
  home: string;
  /** The version of heddle. */
  version: string;
  platform: NodeJS.Platform;
  capabilities: () => ServerCapabilities;
  /** Called with a connection once its handshake has been answered. */
  onHandshake: (connection: number) => void;
}

/** The handshake. A client can repeat one that was refused. */
export function initializeMethods({
  home,
  version,
  platform,
  capabilities,
  onHandshake,
}: InitializeOptions) {
  const platformOs = platform === 'darwin' ? 'macos' : platform === 'win32' ? 'windows' : platform;
  return {
    initialize: {
      order: unqueued,
      handle(params, { caller, after }) {
        const { name, version: clientVersion } = params.clientInfo;
        if (!HEADER_TEXT.test(name))
          throw invalidParams(
            `params.clientInfo.name: ${JSON.stringify(name)} is not allowed in an HTTP header: expected visible ASCII characters`,
          );
        caller.initialize(params);
        after(() => onHandshake(caller.id));
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
  } satisfies HandshakeMethods;
}
