export type { AdmissionRequest, GroupVersionResource, AdmissionOperation, UserInfo } from './admission.ts'
export type { SecretRef } from './certificates/certificate-store.ts'
export type { ClientAddress } from './certificates/webhook-configuration.ts'
export { diffJson } from './json-diff.ts'
export type { AdmissionReviewResponse, ReviewOptions } from './review.ts'
export { handleReview } from './review.ts'
export type { AdmissionServerOptions, CertificateSource } from './server.ts'
export { AdmissionServer } from './server.ts'
export type { DenyOptions, AdmissionDetails } from './admission-result.ts'
export { allow, changed, deny, patched, AdmissionResult } from './admission-result.ts'
export type {
  AdmissionContext,
  MutatingDefinition,
  Mutation,
  ValidatingDefinition,
  Webhook,
  WebhookRule,
} from './webhook.ts'
export { mutating, validating } from './webhook.ts'
export type {
  WebhookCluster,
  Declaration,
  InjectionTarget,
  WebhookCertificatesOptions,
} from './certificates/webhook-certificates.ts'
export { WebhookCertificates } from './certificates/webhook-certificates.ts'
export type { WebhooksOptions } from './webhooks.ts'
export { Webhooks } from './webhooks.ts'
