import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { CLAIM_SELECTOR, type Claim, claimOf, claims, type ClaimsSettings } from '@tenure/claims'
import { type Listening, ownServers } from '@tenure/http'
import { ConfigMap } from '@tenure/kube/kinds'
import { configure, createMetrics, type Metrics } from '@tenure/runtime'
import { defaultValues } from '@tenure/runtime/configuration'
import type { Floor, Running } from '../../floors/index.ts'

/** A Pod and its Service, a return value of each, and a lazy ConfigMap with a value of the caller. */
export const TEMPLATE = `
apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}
  labels: {app: {{ .Release.Name }}}
  annotations: {claim.controller/return: "image={{ .Values.image }}"}
spec:
  automountServiceAccountToken: false
  containers: [{name: main, image: {{ .Values.image | quote }}}]
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
  annotations: {claim.controller/return: "fqdn={{ .Release.Name }}.{{ .Release.Namespace }}.svc.cluster.local"}
spec:
  selector: {app: {{ .Release.Name }}}
  ports: [{port: 80}]
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}-user
  annotations: {claim.controller/lazy.provisionning: "true"}
stringData: {user: {{ .Values.claim.user | default "guest" | quote }}}
`

export interface Response {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Undefined if the body is not JSON. */
  readonly json: Readonly<Record<string, unknown>> | undefined
}

export interface RunClaimsOptions {
  readonly settings?: Partial<ClaimsSettings>
  /** Default: TEMPLATE. */
  readonly template?: string
}

/** The claims operator of one namespace with its HTTP API, on a floor. */
export class RunningClaims {
  readonly #floor: Floor
  readonly #running: Running
  readonly #url: string
  readonly #directory: string
  readonly namespace: string
  readonly metrics: Metrics

  private constructor(
    floor: Floor,
    parts: {
      readonly running: Running
      readonly url: string
      readonly directory: string
      readonly namespace: string
      readonly metrics: Metrics
    },
  ) {
    this.#floor = floor
    this.#running = parts.running
    this.#url = parts.url
    this.#directory = parts.directory
    this.namespace = parts.namespace
    this.metrics = parts.metrics
  }

  static async start(
    floor: Floor,
    { settings = {}, template = TEMPLATE }: RunClaimsOptions = {},
  ): Promise<RunningClaims> {
    const namespace = settings.namespace ?? (await floor.namespace('claims'))
    const directory = mkdtempSync(path.join(tmpdir(), 'tenure-claims-'))
    const [templatePath, valuesPath] = [path.join(directory, 'resources.yaml'), path.join(directory, 'values.yaml')]
    writeFileSync(templatePath, template)
    writeFileSync(valuesPath, 'image: nginx:1.27\n')
    const values: ClaimsSettings = {
      ...defaultValues(claims.config),
      namespace,
      templatePath,
      valuesPath,
      apiAddr: '127.0.0.1:0',
      preProvisionClaimsCount: 2,
      ...settings,
    }
    const metrics = await createMetrics({ processMetrics: false })
    let listening: Listening | undefined
    let isReady = false
    const running = await floor.runOperators({
      operators: [configure(claims, values)],
      leaderElection: false,
      namespace,
      metrics,
      freeze: true,
      servers: [ownServers({ onListening: (_server, where) => (listening = where) })],
      onReady: () => (isReady = true),
    })
    const url = await floor.until('the API listens', () => isReady && listening?.url)
    return new RunningClaims(floor, { running, url, directory, namespace, metrics })
  }

  /** Sends a request while time passes. */
  async send(
    method: string,
    target: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const response = fetch(`${this.#url}${target}`, {
      method,
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }).then(async (answer): Promise<Response> => {
      const text = await answer.text()
      const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false
      const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : undefined
      return { status: answer.status, headers: answer.headers, text, json }
    })
    let outcome: { readonly value?: Response; readonly error?: unknown } | undefined
    response.then(
      (value) => (outcome = { value }),
      (error: unknown) => (outcome = { error }),
    )
    await this.#floor.until(`${method} ${target} is answered`, () => outcome)
    return await response
  }

  /** Sends a POST without a body that `signal` can end. */
  call(target: string, signal: AbortSignal): Promise<unknown> {
    return fetch(`${this.#url}${target}`, { method: 'POST', signal })
  }

  post(target: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return this.send('POST', target, body, headers)
  }

  /** Takes a claim and returns its body. */
  async take(body?: unknown): Promise<{ readonly id: string; readonly [key: string]: unknown }> {
    const { status, text, json } = await this.post('/claim', body)
    if (status !== 201 || typeof json?.['id'] !== 'string') throw new Error(`POST /claim: ${status} ${text}`)
    return { ...json, id: json['id'] }
  }

  async claims(): Promise<readonly Claim[]> {
    const selection = { namespace: this.namespace, labelSelector: CLAIM_SELECTOR }
    const { items } = await this.#floor.api.list(ConfigMap, selection)
    return items.flatMap((object) => claimOf(object) ?? []).filter(({ isTerminating }) => !isTerminating)
  }

  /** Waits until the pool has exactly this many ready members. */
  async warm(count = 2): Promise<void> {
    await this.#floor.until(`the pool has ${count} ready members`, async () => {
      const idle = (await this.claims()).filter(({ isIdle }) => isIdle)
      return idle.length === count && idle.every(({ status }) => status === 'ready')
    })
  }

  /** Replaces the template file, or the values file. */
  write(file: 'resources.yaml' | 'values.yaml', text: string): void {
    writeFileSync(path.join(this.#directory, file), text)
  }

  async metric(name: string): Promise<number> {
    const { text } = await this.metrics.expose()
    const line = text.split('\n').find((each) => each.startsWith(`claim_controller_${name} `))
    return Number(line?.split(' ').at(-1) ?? Number.NaN)
  }

  async stop(): Promise<void> {
    await this.#running.stop()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
