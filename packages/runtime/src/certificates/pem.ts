import { X509Certificate } from 'node:crypto'
import type { AltNames } from './x509.ts'
import { holdsAltNames } from './x509.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g

/** Splits a PEM bundle into certificates; text between them is dropped. */
export function splitBundle(bundle: string): readonly string[] {
  return (bundle.match(CERTIFICATE) ?? []).map((certificate) => `${certificate}\n`)
}

/** Joins certificates into one bundle, without duplicates and in the given order. */
export function joinBundle(certificates: readonly string[]): string {
  return [...new Set(certificates.flatMap(splitBundle))].join('')
}

/** The validity of a certificate in milliseconds since 1970. Throws if it is not a PEM certificate. */
export function validityOf(certificate: string): { readonly notBefore: number; readonly notAfter: number } {
  const parsed = new X509Certificate(certificate)
  return { notBefore: parsed.validFromDate.getTime(), notAfter: parsed.validToDate.getTime() }
}

/** True if the certificate covers all these names and addresses. Throws if it is not a PEM certificate. */
export function isFor(certificate: string, names: AltNames): boolean {
  return holdsAltNames(new X509Certificate(certificate).raw, names)
}
