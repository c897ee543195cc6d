import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Clock, Random } from '@tenure/kube'
import { TenureError } from '@tenure/kube'
import { createAuthority, loadAuthority } from '@tenure/runtime/certificates'
import type { Authority, CertificateWithKey } from '@tenure/runtime/certificates'
import { makeDirectory, replaceFile } from '../../durable-files.ts'

const YEAR_MS = 365 * 86_400_000

/** The keys and certificates of a control plane. Stored, so that a kubeconfig stays valid after a restart. */
export interface Credentials {
  readonly authority: Authority
  readonly server: CertificateWithKey
  /** Of the administrator, who may do everything. */
  readonly admin: CertificateWithKey
  /** The administrator's token, for clients without a certificate. */
  readonly token: string
}

const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host)
const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Loads the credentials from a directory and makes them at the first start; without a directory they are new each time. */
export function loadCredentials(
  directory: string | undefined,
  hosts: readonly string[],
  clock: Clock,
  random: Random,
): Credentials {
  const authority = kept(
    directory,
    'ca.json',
    () => {
      const made = createAuthority({ commonName: 'tenure-control-plane', clock, random })
      return { certificate: made.certificate, key: made.key }
    },
    (keys) => loadAuthority(filled(keys, 'certificate'), filled(keys, 'key'), { clock, random }),
  )
  const token = kept(
    directory,
    'token.json',
    () => ({ token: Buffer.from(random.bytes(32)).toString('hex') }),
    (made) => filled(made, 'token'),
  )
  return {
    authority,
    server: authority.issue({
      commonName: 'kube-apiserver',
      usage: 'server',
      dnsNames: [
        'localhost',
        'kubernetes',
        'kubernetes.default',
        'kubernetes.default.svc',
        ...hosts.filter((host) => !isAddress(host)),
      ],
      ipAddresses: [...new Set(['127.0.0.1', '::1', ...hosts.filter(isAddress)])],
      validFor: YEAR_MS,
    }),
    admin: authority.issue({
      commonName: 'kubernetes-admin',
      organizations: ['system:masters'],
      usage: 'client',
      validFor: YEAR_MS,
    }),
    token,
  }
}

/** The contents of a file of the directory, made at the first start. `read` throws if they are unusable. */
function kept<T>(directory: string | undefined, name: string, make: () => unknown, read: (kept: unknown) => T): T {
  if (directory === undefined) return read(make())
  const file = path.join(directory, name)
  const text = textOf(file)
  if (text === undefined) {
    const made = make()
    makeDirectory(directory)
    replaceFile(file, JSON.stringify(made))
    return read(made)
  }
  try {
    return read(JSON.parse(text))
  } catch (cause) {
    throw new TenureError(
      'TENURE_CREDENTIALS_DAMAGED',
      `The credentials in ${file} are damaged: ${(cause as Error).message}. Restore the file from a copy, or move it away: new credentials are made then, and clients with the old ones are refused.`,
      { cause },
    )
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** A required string. */
function filled(kept: unknown, name: string): string {
  const value: unknown = typeof kept === 'object' && kept !== null ? Reflect.get(kept, name) : undefined
  if (typeof value === 'string' && value !== '') return value
  throw new Error(`${name} is missing`)
}

/** The administrator's kubeconfig, as JSON, which is valid YAML. */
export function kubeconfigFor(url: string, { authority, admin }: Credentials): string {
  return `${JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'tenure', cluster: { server: url, 'certificate-authority-data': base64(authority.certificate) } },
      ],
      users: [
        {
          name: 'tenure-admin',
          user: { 'client-certificate-data': base64(admin.certificate), 'client-key-data': base64(admin.key) },
        },
      ],
      contexts: [{ name: 'tenure', context: { cluster: 'tenure', user: 'tenure-admin' } }],
      'current-context': 'tenure',
    },
    null,
    2,
  )}\n`
}
