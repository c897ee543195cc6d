/**
 * The identities of a cluster: one certificate authority, a certificate for each component, and kubeconfigs for users.
 */
import { generateKeyPairSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

import { TenureError } from '@tenure/kube'

import {
  type Authority,
  type CertificateWithKey,
  createAuthority,
  loadAuthority,
} from '../../packages/runtime/src/certificates/index.ts'

/** The service network; its first address belongs to the API server. */
export const SERVICE_RANGE = '10.0.0.0/16'
const SERVICE_ADDRESS = '10.0.0.1'

export interface Credentials {
  readonly authority: Authority
  /** A member of system:masters, which RBAC does not restrict. */
  readonly admin: CertificateWithKey
}

/** Returns the path of each credential in a cluster's folder. */
export function credentialFiles(directory: string): Readonly<Record<CredentialFile, string>> {
  const at = (name: string): string => path.join(directory, name)
  return {
    authority: at('pki/ca.crt'),
    authorityKey: at('pki/ca.key'),
    server: at('pki/apiserver.crt'),
    serverKey: at('pki/apiserver.key'),
    serviceAccountKey: at('pki/service-accounts.key'),
    serviceAccountPublicKey: at('pki/service-accounts.pub'),
    admin: at('kubeconfig'),
    controllerManager: at('kubeconfigs/controller-manager'),
    scheduler: at('kubeconfigs/scheduler'),
    kwok: at('kubeconfigs/kwok'),
  }
}

type CredentialFile =
  | 'authority'
  | 'authorityKey'
  | 'server'
  | 'serverKey'
  | 'serviceAccountKey'
  | 'serviceAccountPublicKey'
  | 'admin'
  | 'controllerManager'
  | 'scheduler'
  | 'kwok'

/** Creates all credentials of a cluster and writes them to its folder. */
export async function writeCredentials(directory: string, server: string): Promise<Credentials> {
  const files = credentialFiles(directory)
  await mkdir(path.join(directory, 'pki'), { recursive: true, mode: 0o700 })
  const authority = createAuthority({ commonName: 'tenure-test-cluster' })
  await writeSecret(files.authority, authority.certificate)
  await writeSecret(files.authorityKey, authority.key)

  const apiServer = authority.issue({
    commonName: 'kube-apiserver',
    usage: 'server',
    dnsNames: [
      'localhost',
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
      'kubernetes.default.svc.cluster.local',
    ],
    ipAddresses: ['127.0.0.1', SERVICE_ADDRESS],
  })
  await writeSecret(files.server, apiServer.certificate)
  await writeSecret(files.serverKey, apiServer.key)

  const tokens = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await writeSecret(files.serviceAccountKey, tokens.privateKey.export({ type: 'sec1', format: 'pem' }).toString())
  await writeSecret(files.serviceAccountPublicKey, tokens.publicKey.export({ type: 'spki', format: 'pem' }).toString())

  const admin = issueUser(authority, 'kubernetes-admin', ['system:masters'])
  const write = (file: string, user: CertificateWithKey): Promise<void> =>
    writeKubeconfig(file, server, authority.certificate, user)
  await write(files.admin, admin)
  await write(files.controllerManager, issueUser(authority, 'system:kube-controller-manager', []))
  await write(files.scheduler, issueUser(authority, 'system:kube-scheduler', []))
  // kwok acts as every kubelet at once, which no built-in role allows.
  await write(files.kwok, issueUser(authority, 'kwok', ['system:masters']))
  return { authority, admin }
}

/** Reads the certificate authority of the cluster in this folder. */
export async function readAuthority(directory: string): Promise<Authority> {
  const files = credentialFiles(directory)
  if (!existsSync(files.authorityKey)) {
    throw new TenureError(
      'TENURE_CLUSTER_NO_AUTHORITY',
      `There is no certificate authority in ${directory}, so users cannot be created. Use a cluster that ` +
        '"npm run cluster -- up" or startCluster started.',
    )
  }
  return loadAuthority(await readFile(files.authority, 'utf8'), await readFile(files.authorityKey, 'utf8'))
}

/** Issues a client certificate. Kubernetes reads the common name as the user and the organizations as groups. */
export function issueUser(authority: Authority, name: string, groups: readonly string[]): CertificateWithKey {
  return authority.issue({ commonName: name, organizations: groups, usage: 'client' })
}

/** Writes a kubeconfig with inline credentials, as JSON, which is valid YAML. */
export async function writeKubeconfig(
  file: string,
  server: string,
  authority: string,
  user: CertificateWithKey,
): Promise<void> {
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'tenure',
    clusters: [{ name: 'tenure', cluster: { server, 'certificate-authority-data': base64(authority) } }],
    users: [
      {
        name: 'tenure',
        user: { 'client-certificate-data': base64(user.certificate), 'client-key-data': base64(user.key) },
      },
    ],
    contexts: [{ name: 'tenure', context: { cluster: 'tenure', user: 'tenure', namespace: 'default' } }],
  }
  await writeSecret(file, `${JSON.stringify(kubeconfig, undefined, 2)}\n`)
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

async function writeSecret(file: string, content: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, content, { mode: 0o600 })
}
