/** A cluster for releases of the chart: it audits their requests, and reaches their webhooks through Services. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import type { TestPostgres } from '@tenure/databases/testing'

import { HttpsFloor } from '../../floors/index.ts'
import { RunningDatabases } from '../../operators/databases/support.ts'
import { type Cluster, startCluster } from '../cluster.ts'
import { type Helm, openHelm } from '../helm.ts'
import { type AuditedUser, AuditLog } from './audit-log.ts'
import { Release } from './release.ts'
import { ServiceProxy } from './service-proxy.ts'

/** The operators of the chart, by the last parts of the names of their objects. */
export const COMPONENTS = ['applications', 'claims', 'databases', 'lease-controllers'] as const

interface Parts {
  readonly directory: string
  readonly audit: AuditLog
  readonly proxy: ServiceProxy
  readonly cluster: Cluster
  readonly floor: HttpsFloor
  readonly helm: Helm
}

export class ChartFixture {
  readonly cluster: Cluster
  readonly floor: HttpsFloor
  readonly helm: Helm
  readonly #parts: Parts

  private constructor(parts: Parts) {
    this.cluster = parts.cluster
    this.floor = parts.floor
    this.helm = parts.helm
    this.#parts = parts
  }

  static async open(): Promise<ChartFixture> {
    const directory = await mkdtemp(path.join(tmpdir(), 'tenure-chart-'))
    const audit = await AuditLog.create(directory)
    const proxy = await ServiceProxy.open(directory)
    const strict = '--enable-admission-plugins=OwnerReferencesPermissionEnforcement'
    const cluster = await startCluster({ apiServerArgs: [...audit.flags, ...proxy.flags, strict] })
    const floor = await HttpsFloor.cluster(cluster.kubeconfig)
    const helm = await openHelm(cluster.kubeconfig, directory)
    return new ChartFixture({ directory, audit, proxy, cluster, floor, helm })
  }

  /** A release that is not installed yet, in a new namespace. */
  async release(name: string, namespace: string): Promise<Release> {
    const { cluster, helm, proxy } = this.#parts
    await cluster.kubectl(['create', 'namespace', namespace])
    return new Release({ cluster, helm, proxy, name, namespace })
  }

  /** Installs all operators and runs a process of each, with a database of the server. */
  async install(release: Release, postgres: TestPostgres, values: object = {}): Promise<RunningDatabases> {
    return RunningDatabases.start(this.floor, postgres, {
      runOperator: async (settings) => {
        const password = `--from-literal=password=${settings.dbPassword ?? ''}`
        await release.kubectl('create', 'secret', 'generic', 'nest-db-credentials', password)
        const { dbHost: host, dbName: name, dbPort: port, dbUser: user, namespacePrefix } = settings
        const databases = { enabled: true, database: { host, port, user, name }, settings: { namespacePrefix } }
        await release.run('install', [], { ...values, databases })
        await Promise.all(COMPONENTS.map((component) => release.start(release.nameOf(component))))
        return { stop: () => release.endAll() }
      },
    })
  }

  /** The requests of the ServiceAccount of a Deployment. */
  requestsOf({ namespace }: Release, deployment: string): AuditedUser {
    return this.#parts.audit.user(`system:serviceaccount:${namespace}:${deployment}`)
  }

  async close(): Promise<void> {
    const { cluster, directory, floor, proxy } = this.#parts
    await floor.leave()
    await cluster.stop()
    await proxy.close()
    await rm(directory, { recursive: true })
  }
}
