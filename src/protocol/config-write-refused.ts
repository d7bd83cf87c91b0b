import type { ErrorCode } from './generated/error-code.ts';
import { type RpcError, refused } from './rpc-error.ts';

/** Why a write of the configuration was refused, in the words that clients know. */
export type ConfigWriteErrorCode =
  | 'configVersionConflict'
  | 'configValidationError'
  | 'configLayerReadonly'
  | 'configPathNotFound';

const CONFIG_WRITE_CODES: Record<ConfigWriteErrorCode, ErrorCode> = {
  configVersionConflict: 'config_version_conflict',
  configValidationError: 'config_invalid',
  configLayerReadonly: 'config_layer_readonly',
  configPathNotFound: 'config_path_not_found',
};

export function configWriteRefused(code: ConfigWriteErrorCode, message: string): RpcError {
  return refused(CONFIG_WRITE_CODES[code], message, { config_write_error_code: code });
}

/** For a write with invalid edits, or after which the configuration would be invalid. */
export function configWriteInvalid(message: string): RpcError {
  return configWriteRefused('configValidationError', message);
}
