import { RpcError, refused } from './rpc-error.ts';

/** Why a write of the configuration was refused, in the words that clients know. */
export type ConfigWriteErrorCode = 'configVersionConflict' | 'configValidationError' | 'configLayerReadonly' | 'configPathNotFound';

const CONFIG_WRITE_CODES: Record<ConfigWriteErrorCode, string> = {
  configVersionConflict: 'config_version_conflict',
  configValidationError: 'config_invalid',
  configLayerReadonly: 'config_layer_readonly',
  configPathNotFound: 'config_path_not_found',
};

export function configWriteRefused(code: ConfigWriteErrorCode, message: string): RpcError {
  return refused(CONFIG_WRITE_CODES[code], message, { config_write_error_code: code });
}

/** Whether a write was refused because another program has changed the file since it was read. */
export function isVersionConflict(error: unknown): boolean {
  return error instanceof RpcError && error.data.config_write_error_code === 'configVersionConflict';
}
