import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePorts } from '../../test/cluster/free-ports.ts'
import { ClaimsClient } from './claims-client.ts'
import { OperatorProcess, pause } from './operator-process.ts'

/** The template that the operator has by default, which is the seed's: a Pod and its Service. */
export const DEFAULT_TEMPLATE = path.resolve(
  import.meta.dirname,
  '../../packages/claims/config/template/resources.yaml',
)
export const DEFAULT_VALUES = path.resolve(import.meta.dirname, '../../packages/claims/config/template/values.yaml')

/**
 * A NetworkPolicy, which no controller of the cluster acts on: the pool is full soon, and nothing but its hand-out costs
 * anything.
 */
export const SMALL_TEMPLATE = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .Release.Name }}
  annotations:
    claim.controller/return: host={{ .Release.Name }}.{{ .Release.Namespace }}
spec:
  podSelector: {}
`

/** A Pod alone. */
export const POD_TEMPLATE = `
apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}
  annotations:
    claim.controller/return: host={{ .Release.Name }}.{{ .Release.Namespace }}
spec:
  containers: [{name: main, image: nginx}]
`

/** A Pod, and a Secret with a value of the caller that is made at hand-out. */
export const LAZY_TEMPLATE = `${POD_TEMPLATE}
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}-user
  annotations:
    claim.controller/lazy-provisionning: "true"
stringData:
  user: {{ .Values.claim.user | default "guest" | quote }}
`

/**
 * As OPERATOR_OPTIONS, with a larger young generation: this operator serves callers, whose requests leave much garbage. A
 * hand-out takes a quarter less CPU than with 2 MB.
 */
export const NODE_OPTIONS: readonly string[] = ['--max-semi-space-size=16', '--v8-pool-size=0', '--use-openssl-ca']

export interface PoolSettings {
  /** The text of the template. Default: the seed's. */
  readonly template?: string
  readonly count: number
}

export interface ClaimsOperatorOptions {
  /** The bundled program. */
  readonly program: string
  readonly kubeconfig: string
  readonly namespace: string
  readonly pools: Readonly<Record<string, PoolSettings>>
}

/** The claims operator as its own process. */
export class ClaimsOperator {
  readonly client: ClaimsClient
  readonly #process: OperatorProcess
  readonly #metricsUrl: string
  readonly #folder: string

  private constructor(process: OperatorProcess, port: number, metricsUrl: string, folder: string) {
    this.#process = process
    this.client = new ClaimsClient(port)
    this.#metricsUrl = metricsUrl
    this.#folder = folder
  }

  static async start({ program, kubeconfig, namespace, pools }: ClaimsOperatorOptions): Promise<ClaimsOperator> {
    const [port = 0, metricsPort = 0, probePort = 0] = await freePorts(3)
    const folder = mkdtempSync(path.join(tmpdir(), 'tenure-bench-claims-'))
    const file = path.join(folder, 'claims.json')
    writeFileSync(file, JSON.stringify({ pools: poolSections(folder, pools) }))
    const process = new OperatorProcess(
      [
        'claims',
        `--config=${file}`,
        `--namespace=${namespace}`,
        `--leader-election-namespace=${namespace}`,
        `--api-addr=127.0.0.1:${port}`,
        `--metrics-addr=127.0.0.1:${metricsPort}`,
        `--health-probe-addr=127.0.0.1:${probePort}`,
        '--max-ttl=1h',
        '--log-level=error',
      ],
      { KUBECONFIG: kubeconfig },
      NODE_OPTIONS,
      program,
    )
    await process.ready(`http://127.0.0.1:${probePort}/readyz`)
    return new ClaimsOperator(process, port, `http://127.0.0.1:${metricsPort}/metrics`, folder)
  }

  get pid(): number {
    return this.#process.pid
  }

  async stop(): Promise<void> {
    this.client.close()
    await this.#process.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Waits until the pool has exactly `count` ready members, none is on its way and no claim is left. */
  async whenFull(pool: string, count: number): Promise<void> {
    for (;;) {
      const found = (await this.client.pools()).find(({ name }) => name === pool)
      if (found?.ready === count && found.pending === 0 && found.claimed === 0) return
      await pause(100)
    }
  }

  /** The operator's own count of requests to the API server by method. */
  async requests(): Promise<ReadonlyMap<string, number>> {
    const text = await (await fetch(this.#metricsUrl)).text()
    const counts = new Map<string, number>()
    for (const [, labels = '', value] of text.matchAll(/^rest_client_requests_total\{(.*)\} (\d+)$/gm)) {
      const method = /method="(\w+)"/.exec(labels)?.[1] ?? ''
      counts.set(method, (counts.get(method) ?? 0) + Number(value))
    }
    return counts
  }
}

function poolSections(folder: string, pools: ClaimsOperatorOptions['pools']): object {
  const sections = Object.entries(pools).map(([name, { template, count }]) => {
    if (template === undefined) return [name, { templatePath: DEFAULT_TEMPLATE, valuesPath: DEFAULT_VALUES, count }]
    const templatePath = path.join(folder, `${name}.yaml`)
    const valuesPath = path.join(folder, 'values.yaml')
    writeFileSync(templatePath, template)
    writeFileSync(valuesPath, '{}')
    return [name, { templatePath, valuesPath, count }]
  })
  return Object.fromEntries(sections)
}
