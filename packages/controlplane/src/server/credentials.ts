import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Clock, Random } from '@tenure/kube'
import { createAuthority, loadAuthority } from '@tenure/runtime'
import type { Authority, CertificateWithKey } from '@tenure/runtime'

const YEAR = 365 * 86_400_000

/** What a control plane is known by. Kept, so that a kubeconfig outlives a restart. */
export interface Credentials {
  readonly authority: Authority
  readonly server: CertificateWithKey
  /** Of the admin, who may do all. */
  readonly admin: CertificateWithKey
  /** The admin's, for those who can not present a certificate. */
  readonly token: string
}

const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host)
const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** The credentials in a directory, made at the first start; without one new ones each time. */
export async function loadCredentials(
  directory: string | undefined,
  hosts: readonly string[],
  clock: Clock,
  random: Random,
): Promise<Credentials> {
  const authority = await kept(directory, 'ca.json', () => {
    const made = createAuthority({ commonName: 'tenure-control-plane', clock, random })
    return { certificate: made.certificate, key: made.key }
  }).then(({ certificate, key }) => loadAuthority(certificate, key, { clock, random }))
  const { token } = await kept(directory, 'token.json', () => ({
    token: Buffer.from(random.bytes(32)).toString('hex'),
  }))
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
      validFor: YEAR,
    }),
    admin: authority.issue({
      commonName: 'kubernetes-admin',
      organizations: ['system:masters'],
      usage: 'client',
      validFor: YEAR,
    }),
    token,
  }
}

async function kept<T extends object>(directory: string | undefined, name: string, make: () => T): Promise<T> {
  if (directory === undefined) return make()
  const file = path.join(directory, name)
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOENT') throw error
  }
  const made = make()
  await mkdir(directory, { recursive: true })
  // Whole or not at all: half a key would lock everybody out.
  const temporary = `${file}.new`
  await writeFile(temporary, JSON.stringify(made), { mode: 0o600 })
  await chmod(temporary, 0o600)
  await rename(temporary, file)
  return made
}

/** A kubeconfig for the admin: JSON, which is YAML. */
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
