/** The package's `heddle/client`: a typed client of an app-server. */
export { showText } from '../base/text/show-text.ts';
export type { ErrorCode } from '../protocol/generated/error-code.ts';
export type * from '../protocol/generated/types.ts';
export { Client, type TurnInput } from './client.ts';
export type {
  ClientOptions,
  ClientTransport,
  Notification,
  NotificationMethod,
  RequestArguments,
  RequestMethod,
  RequestOptions,
  ServerRequestContext,
  ServerRequestHandler,
  ServerRequestMethod,
  Subscriber,
  SubscriptionOptions,
  WireMessage,
} from './client-options.ts';
export { connect } from './connect.ts';
export {
  ConnectionError,
  OverflowError,
  RequestError,
  type RequestErrorData,
  RequestTimeoutError,
} from './request-error.ts';
export { type Exit, SpawnedClient, type SpawnOptions, spawnServer } from './spawn-server.ts';
export type { TurnResult, TurnRun } from './turn-run.ts';
