export * from './api.ts'
export { Client, type ClientOptions } from './client.ts'
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
export { explainStartupFailure } from './config/explain.ts'
export { loadConfig, type LoadConfigOptions } from './config/load-config.ts'
export { Secret } from './config/secret.ts'
export { discover, type ApiGroup, type ApiGroups, type ApiGroupVersion, type ApiResource } from './discovery.ts'
export * from './errors.ts'
export { isRefusedAsIs } from './refusal.ts'
export { HttpTransport, type HttpTransportOptions } from './http-transport.ts'
export * from './kind.ts'
export * from './object.ts'
export * from './patch.ts'
export * from './random.ts'
export { type RateLimitOptions } from './rate-limit.ts'
export { type Answer, type ApiRequest, type Requester, type ResponseInfo, type Verb } from './requester.ts'
export { RestMapper, type KindQuery, type RestMapperOptions } from './rest-mapper.ts'
export { type RetryOptions } from './retry.ts'
export {
  FieldMatcher,
  LabelMatcher,
  selectionMatcher,
  type LabelSelector,
  type LabelSelectorRequirement,
} from './selector.ts'
export * from './transport.ts'
