export * from './client/api.ts'
export { Client, type ClientOptions } from './client/client.ts'
export * from './clock.ts'
export {
  connectTo,
  type ConnectionConfig,
  type CredentialConfig,
  type DirectConnection,
  type ExecConfig,
  type Impersonation,
  type TlsConfig,
} from './config/connection-config.ts'
export { explainStartupFailure } from './config/startup-failure.ts'
export { loadConfig, type LoadConfigOptions } from './config/load-config.ts'
export { SecretValue } from './config/secret-value.ts'
export {
  discover,
  type ApiGroup,
  type ApiGroups,
  type ApiGroupVersion,
  type ApiResource,
} from './discovery/discovery.ts'
export * from './errors/errors.ts'
export type { DeniedAccess } from './errors/forbidden.ts'
export { HttpTransport, type HttpTransportOptions } from './transport/http-transport.ts'
export * from './model/kind.ts'
export * from './model/object.ts'
export * from './model/patch.ts'
export * from './random.ts'
export { type RateLimitOptions } from './client/rate-limit.ts'
export { type ApiResponse, type ApiRequest, type Requester, type ResponseInfo, type Verb } from './client/requester.ts'
export { RestMapper, type KindQuery, type RestMapperOptions } from './discovery/rest-mapper.ts'
export { type RetryOptions } from './client/retry.ts'
export {
  FieldMatcher,
  LabelMatcher,
  selectionMatcher,
  type LabelSelector,
  type LabelSelectorRequirement,
} from './model/selector.ts'
export { closest } from './text/edit-distance.ts'
export * from './token-bucket.ts'
export * from './transport/transport.ts'
