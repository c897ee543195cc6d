export type {
  Authority,
  AuthorityContext,
  AuthorityOptions,
  CertificateRequest,
  CertificateWithKey,
} from './authority.ts'
export { BACKDATING, createAuthority, loadAuthority } from './authority.ts'
export { isFor, joinBundle, splitBundle, validityOf } from './pem.ts'
export type { AltNames, Subject, Usage } from './x509.ts'
