import { X509Certificate } from 'node:crypto'
import type { AltNames } from './x509.ts'
import { holdsAltNames } from './x509.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g

/** The certificates of a PEM bundle, each as PEM of its own; what is between them is dropped. */
export function splitBundle(bundle: string): readonly string[] {
  return (bundle.match(CERTIFICATE) ?? []).map((certificate) => `${certificate}\n`)
}

/** One bundle, each certificate once, in the order given. */
export function joinBundle(certificates: readonly string[]): string {
  return [...new Set(certificates.flatMap(splitBundle))].join('')
}

/** When a certificate is valid, in milliseconds since 1970. Throws if it is not a PEM certificate. */
export function validityOf(certificate: string): { readonly notBefore: number; readonly notAfter: number } {
  const parsed = new X509Certificate(certificate)
  return { notBefore: parsed.validFromDate.getTime(), notAfter: parsed.validToDate.getTime() }
}

/** True if a certificate is for each of these names and addresses. Throws if it is not a PEM certificate. */
export function isFor(certificate: string, names: AltNames): boolean {
  return holdsAltNames(new X509Certificate(certificate).raw, names)
}
