export type {
  Authority,
  AuthorityContext,
  AuthorityOptions,
  CertificateRequest,
  CertificateWithKey,
} from './authority.ts'
export { BACKDATE_MS, createAuthority, loadAuthority } from './authority.ts'
export { isFor, joinBundle, splitBundle, validityOf } from './pem.ts'
export type { AltNames, Subject, Usage } from './x509.ts'
