/** Tests the error messages for programs that cannot start, with real files and a real API server. */
import { sign } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'

import type { ConnectionConfig } from '@tenure/kube'
import { asError, Client, explainStartupFailure, HttpTransport, loadConfig, systemClock } from '@tenure/kube'
import { ConfigMap, Role, RoleBinding, ServiceAccount } from '@tenure/kube/kinds'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import {
  type CertificateWithKey,
  createAuthority,
  loadAuthority,
} from '../../packages/runtime/src/certificates/index.ts'
import { workerKubeconfig } from './worker-kubeconfig.ts'
import { type ClusterAccess, openCluster } from './access.ts'
import { credentialFiles } from './credentials.ts'
import { freePorts } from './free-ports.ts'
import { type Connected, connect, connectWith } from './support/connect.ts'
import { createNamespace, type TestNamespace } from './support/namespace.ts'
import { ObservedInformer } from './support/observed-informer.ts'

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly server: string } & Readonly<Record<string, string>> }]
  readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }]
}

let cluster: ClusterAccess
let admin: Connected
let home: TestNamespace
let namespace: string
let folder: string
let good: Kubeconfig
let server: string

beforeAll(async () => {
  cluster = await openCluster(workerKubeconfig())
  admin = await connect(cluster.kubeconfig)
  home = await createNamespace(admin.client, 'start-up')
  namespace = home.name
  folder = await mkdtemp(path.join(tmpdir(), 'tenure-start-up-'))
  good = JSON.parse(await readFile(cluster.kubeconfig, 'utf8')) as Kubeconfig
  server = good.clusters[0].cluster.server
})

afterAll(async () => {
  await home.remove()
  await admin.close()
  await rm(folder, { recursive: true, force: true })
})

/** Writes a kubeconfig like the admin's with the given changes of cluster and user. */
async function kubeconfig(
  name: string,
  change: { readonly cluster?: object; readonly user?: object },
): Promise<string> {
  const file = path.join(folder, name)
  const [entry] = good.clusters
  const [user] = good.users
  const text = JSON.stringify({
    ...good,
    clusters: [{ ...entry, cluster: { ...entry.cluster, ...change.cluster } }],
    users: [{ ...user, user: change.user ?? user.user }],
  })
  await writeFile(file, text)
  return file
}

/** Returns the error message of a program that lists the ConfigMaps of a namespace, or of all. */
async function sentenceOf(file: string, where: { readonly namespace?: string } = { namespace }): Promise<string> {
  let config: ConnectionConfig | undefined
  let transport: HttpTransport | undefined
  try {
    config = await loadConfig({ kubeconfigPath: file, env: {} })
    transport = new HttpTransport(config, { connectTimeout: 500 })
    await new Client({ transport, retry: { attempts: 1 } }).list(ConfigMap, { ...where, limit: 1 })
  } catch (error) {
    return config ? explainStartupFailure(error, config) : asError(error).message
  } finally {
    await transport?.close()
  }
  return 'nothing is wrong'
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const certificateOf = ({ certificate, key }: CertificateWithKey): object => ({
  'client-certificate-data': base64(certificate),
  'client-key-data': base64(key),
})
const origin = (name: string): string => `context "tenure" of ${path.join(folder, name)}`

describe('a kubeconfig', () => {
  test('an unchanged kubeconfig works; the tests below change one thing each', async () => {
    expect(await sentenceOf(await kubeconfig('fine', {}))).toBe('nothing is wrong')
  })

  test('a missing kubeconfig is reported with its path', async () => {
    const file = path.join(folder, 'missing')
    expect(await sentenceOf(file)).toBe(`There is no kubeconfig at ${file}: correct the path or create the file.`)
  })

  test('invalid YAML is reported', async () => {
    const file = path.join(folder, 'broken.yaml')
    await writeFile(file, 'apiVersion: v1\nclusters: [\n  - {name: x\n')
    const sentence = await sentenceOf(file)
    // The words and the line of kubectl.
    expect(sentence).toBe(
      `The kubeconfig ${file} is not valid YAML (did not find expected node content at line 2): ` +
        'correct it or point KUBECONFIG at another file.',
    )
  })

  test('an unknown context is reported', async () => {
    const asked = loadConfig({ kubeconfigPath: cluster.kubeconfig, context: 'production', env: {} })
    await expect(asked).rejects.toMatchObject({
      code: 'TENURE_KUBECONFIG_CONTEXT',
      message: `The context "production" is not in ${cluster.kubeconfig}: choose a context that is (there is tenure).`,
    })
  })

  test('an invalid certificate authority is reported', async () => {
    const file = await kubeconfig('garbage', { cluster: { 'certificate-authority-data': base64('garbage') } })
    expect(await sentenceOf(file)).toBe(
      `The kubeconfig ${file} cannot be used: clusters[0].cluster.certificate-authority-data must be PEM in base64.`,
    )
  })
})

describe('a server', () => {
  test('a refused connection is reported', async () => {
    const [port] = await freePorts(1)
    const address = `https://127.0.0.1:${port}`
    expect(await sentenceOf(await kubeconfig('refused', { cluster: { server: address } }))).toBe(
      `Nothing listens at the API server's address ${address} (${origin('refused')}): start the server or correct the address.`,
    )
  })

  test('a server that does not respond is reported', async () => {
    const silent = createServer()
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const address = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`
    expect(await sentenceOf(await kubeconfig('silent', { cluster: { server: address } }))).toBe(
      `The API server ${address} (${origin('silent')}) cannot be reached (time-out): check the network, VPN and firewall.`,
    )
    silent.close()
  })

  test('a certificate of another authority is reported', async () => {
    const { certificate } = createAuthority({ commonName: 'another' })
    const file = await kubeconfig('authority', { cluster: { 'certificate-authority-data': base64(certificate) } })
    expect(await sentenceOf(file)).toBe(
      `The certificate of the API server ${server} (${origin('authority')}) is signed by an authority that is not trusted: set the cluster's certificate-authority to the one that signed it.`,
    )
  })

  test('a certificate for another name is reported', async () => {
    const file = await kubeconfig('name', { cluster: { 'tls-server-name': 'other.example' } })
    expect(await sentenceOf(file)).toBe(
      `The certificate of the API server ${server} (${origin('name')}) is for another name than other.example: use an address that it covers or set tls-server-name.`,
    )
  })

  test('plain HTTP to an HTTPS port is reported', async () => {
    const address = server.replace('https:', 'http:')
    expect(await sentenceOf(await kubeconfig('plain', { cluster: { server: address } }))).toBe(
      `The API server ${address} (${origin('plain')}) accepts only TLS: write its address with https.`,
    )
  })
})

describe('credentials', () => {
  test('an expired token is reported', async () => {
    const { metadata } = await admin.client.create(ServiceAccount, { metadata: { name: 'robot', namespace } })
    const now = Math.floor(Date.now() / 1000)
    const token = (expiry: number): Promise<string> => accountToken(namespace, 'robot', metadata.uid, expiry)
    // The server accepts an equal token that has not expired, so the expiry is the reason for the rejection.
    const valid = await kubeconfig('valid-token', { user: { token: await token(now + 600) } })
    expect(await sentenceOf(valid)).toContain(`User "system:serviceaccount:${namespace}:robot" may not list configmaps`)
    const expired = await kubeconfig('expired-token', { user: { token: await token(now - 60) } })
    expect(await sentenceOf(expired)).toBe(
      `The API server ${server} rejected the credentials of ${origin('expired-token')} (401): the token has expired or is wrong; log in again or set a new token.`,
    )
  })

  test('a wrong token in a token file is reported, and a corrected file is used', async () => {
    const tokenFile = path.join(folder, 'token')
    await writeFile(tokenFile, 'not-a-token\n')
    const config = await loadConfig({
      kubeconfigPath: await kubeconfig('token-file', { user: { tokenFile } }),
      env: {},
    })
    const { client, close } = connectWith(config)
    const sentence = (): Promise<string> =>
      client.list(ConfigMap, { namespace }).then(
        () => 'nothing is wrong',
        (error: unknown) => explainStartupFailure(error, config),
      )
    expect(await sentence()).toBe(
      `The API server ${server} rejected the credentials of ${origin('token-file')} (401): the token in ${tokenFile} has expired or is wrong; renew it.`,
    )
    const { metadata } = await admin.client.create(ServiceAccount, { metadata: { name: 'renewed', namespace } })
    await writeFile(
      tokenFile,
      await accountToken(namespace, 'renewed', metadata.uid, Math.floor(Date.now() / 1000) + 600),
    )
    // The same client reads the file again after a 401.
    expect(await sentence()).toContain(`User "system:serviceaccount:${namespace}:renewed" may not list configmaps`)
    await close()
  })

  test('an expired client certificate is reported', async () => {
    const files = credentialFiles(path.dirname(cluster.kubeconfig))
    const [certificate, key] = await Promise.all([
      readFile(files.authority, 'utf8'),
      readFile(files.authorityKey, 'utf8'),
    ])
    const earlier = { ...systemClock, now: () => systemClock.now() - 120_000 }
    const authority = loadAuthority(certificate, key, { clock: earlier })
    const user = certificateOf(authority.issue({ commonName: 'late', usage: 'client', validFor: 60_000 }))
    expect(await sentenceOf(await kubeconfig('late', { user }))).toBe(
      `The API server ${server} rejected the credentials of ${origin('late')} (401): the client certificate has expired or the server does not trust its authority; get a new one.`,
    )
  })

  test('missing credentials are reported', async () => {
    expect(await sentenceOf(await kubeconfig('anonymous', { user: {} }))).toBe(
      `The API server ${server} does not know the user (403), because ${origin('anonymous')} has no credentials: add a user with credentials to the kubeconfig.`,
    )
  })
})

describe('a user without permissions', () => {
  test('the error names the missing permission and how to grant it', async () => {
    const file = await cluster.userKubeconfig('intern')
    const at = `on the API server ${server} (context "tenure" of ${file}) (403)`
    expect(await sentenceOf(file)).toBe(
      `User "intern" may not list configmaps in namespace ${namespace} ${at}: grant it with a Role and a RoleBinding there.`,
    )
    expect(await sentenceOf(file, {})).toBe(
      `User "intern" may not list configmaps in the whole cluster ${at}: grant it with a ClusterRole and a ClusterRoleBinding.`,
    )
  })

  test('an informer reports the missing permission and works within seconds of the grant', async () => {
    const { client } = admin
    const watcher = await connect(await cluster.userKubeconfig('watcher'))
    await client.create(ConfigMap, { metadata: { name: 'one', namespace } })
    const observed = new ObservedInformer(ConfigMap, namespace, { api: watcher.client })
    try {
      expect(await observed.whenDown()).toMatchObject({
        code: 'TENURE_WATCH_FORBIDDEN',
        message: `Not allowed to watch configmaps/v1 in namespace ${namespace}: grant the verbs list and watch on it. Retrying.`,
        cause: { status: 403, message: expect.stringContaining('User "watcher" cannot list resource "configmaps"') },
      })
      expect(observed.informer.synced).toBe(false)
      const name = 'watchers'
      await client.create(Role, {
        metadata: { name, namespace },
        rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] }],
      })
      await client.create(RoleBinding, {
        metadata: { name, namespace },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'watcher' }],
      })
      await observed.whenLive(10_000)
      await observed.expectEqualTo(client)
      expect(observed.transitions).toEqual(['down', 'live'])
    } finally {
      await observed.stop()
      await watcher.close()
    }
  })
})

/** Signs a token of a service account as the cluster does. TokenRequest issues none that expires within ten minutes. */
async function accountToken(namespace: string, name: string, uid: string, expiry: number): Promise<string> {
  const files = credentialFiles(path.dirname(cluster.kubeconfig))
  const issuer = 'https://kubernetes.default.svc.cluster.local'
  const claims = {
    iss: issuer,
    aud: [issuer],
    sub: `system:serviceaccount:${namespace}:${name}`,
    iat: expiry - 3600,
    nbf: expiry - 3600,
    exp: expiry,
    'kubernetes.io': { namespace, serviceaccount: { name, uid } },
  }
  const encoded = [{ alg: 'ES256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const key = await readFile(files.serviceAccountKey, 'utf8')
  const signature = sign('sha256', Buffer.from(encoded), { key, dsaEncoding: 'ieee-p1363' })
  return `${encoded}.${signature.toString('base64url')}`
}
