/** Tests the roles of the databases operator on an API server that enforces them and audits every request. */
import { readFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { databasesRbac } from '@tenure/databases'
import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { HttpTransport, loadConfig } from '@tenure/kube'
import { runOperators } from '@tenure/runtime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Floor, HttpsFloor } from '../floors/index.ts'
import { RunningDatabases } from '../operators/databases/support.ts'
import { openCluster } from './access.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { writeAccountKubeconfig } from './support/account.ts'
import { AuditLog } from './support/audit-log.ts'

const NAMESPACE = 'nest-system'
const OPERATOR = 'nest-controller'
const MANIFEST = path.resolve(import.meta.dirname, '../../deploy/databases.yaml')
const [flavor] = postgresFlavors

/** An apply that creates is checked without a request; the others need volumes that grow, an adopted StatefulSet or
 * a Secret that lost its labels. */
const NOT_AUDITED = [
  'create statefulsets.apps',
  'create services',
  'create configmaps',
  'create poddisruptionbudgets.policy',
  'patch persistentvolumeclaims',
  'delete pods',
  'get secrets',
  'patch secrets',
]

describe.skipIf(flavor === undefined)('the roles of the databases operator', () => {
  let directory: string
  let audit: AuditLog
  let cluster: Cluster
  let postgres: TestPostgres
  let floor: HttpsFloor
  let operator: RunningDatabases

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'tenure-audit-'))
    audit = await AuditLog.create(directory)
    cluster = await startCluster({ apiServerArgs: audit.flags })
    postgres = await TestPostgres.start(flavor ?? 'system')
    floor = await HttpsFloor.cluster(cluster.kubeconfig)
    const transport = new HttpTransport(await loadConfig({ kubeconfigPath: await account(), env: {} }))
    const { clock, random } = floor
    const limited: Floor = Object.create(floor, {
      runOperators: {
        value: (options: Parameters<Floor['runOperators']>[0]) =>
          floor.run({
            run: async (signal) => {
              await runOperators({ ...options, leaderElection: {}, transport, clock, random }, signal)
              await transport.close()
            },
          }),
      },
    })
    operator = await RunningDatabases.start(limited, postgres, { settings: { leaderElectionNamespace: NAMESPACE } })
  })

  afterAll(async () => {
    await operator.stop()
    await floor.leave()
    await cluster.stop()
    await postgres.stop()
    await rm(directory, { recursive: true })
  })

  /** Applies the manifest without its Deployment, and writes a kubeconfig of its account. */
  async function account(): Promise<string> {
    const access = await openCluster(cluster.kubeconfig)
    const text = await readFile(MANIFEST, 'utf8')
    const stdin = text
      .split(/^---$/m)
      .filter((part) => !/^kind: Deployment$/m.test(part))
      .join('---\n')
    await access.kubectl(['apply', '-f', '-'], { stdin })
    return writeAccountKubeconfig(access, { namespace: NAMESPACE, name: OPERATOR }, path.join(directory, 'kubeconfig'))
  }

  test('they are enough for the life of a database, and none is unused', async () => {
    const id = await operator.insert('cache', 'redis', { replicas: 2 })
    await operator.untilStatus(id, 'active')
    await operator.sql(`UPDATE resources SET config = '{"replicas": 1}' WHERE id = ${id}`)
    await operator.untilStatus(id, 'active')
    await operator.sql(`UPDATE resources SET config = '{"delete_data": true}', deleted_at = now() WHERE id = ${id}`)
    await operator.untilStatus(id, 'deleted')
    const user = audit.user(`system:serviceaccount:${NAMESPACE}:${OPERATOR}`)
    const rules = [...(databasesRbac.cluster ?? []), ...(databasesRbac.namespace ?? [])]
    const unused = async () => (await user.unused(rules)).filter((permission) => !NOT_AUDITED.includes(permission))
    await expect.poll(unused, { timeout: 60_000, interval: 100 }).toEqual([])
    expect(await user.refused()).toEqual([])
  })
})
