import type { JsonObject } from '@tenure/kube/model'
import { isJsonObject } from '@tenure/kube/model'
import { seededRandom, type VirtualClock } from '@tenure/kube/testing'
import type { PoolTemplateSource } from '../handout/pools.ts'
import { poolTemplate } from '../template/pool-template.ts'
import { ClaimTemplateError, type PoolTemplate } from '../template/types.ts'

export const NAMESPACE = 'default'

/** A Pod and a ConfigMap, named after the claim. */
export const TEMPLATE = `
apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}
  annotations:
    claim.controller/return: host={{ .Release.Name }}.{{ .Release.Namespace }}
spec:
  containers: [{name: main, image: {{ .Values.image }}}]
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-settings
data:
  a: b
`

/** A lazy Secret with a value of the caller. */
export const LAZY_SECRET = `
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

/** A template that a test can change and break. */
export class FixtureTemplate implements PoolTemplateSource {
  readonly owner = undefined
  readonly #clock: VirtualClock
  readonly #listeners = new Set<() => void>()
  #template: PoolTemplate | Error

  constructor(clock: VirtualClock, text: string) {
    this.#clock = clock
    this.#template = this.#parse(text)
  }

  current(): PoolTemplate {
    if (this.#template instanceof Error) throw this.#template
    return this.#template
  }

  change(text: string, valuesText?: string): void {
    this.#template = this.#parse(text, valuesText)
    for (const listener of this.#listeners) listener()
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  checkValues(values: JsonObject): string | undefined {
    return isJsonObject(values['user']) ? 'values.user must be a string' : undefined
  }

  #parse(templateText: string, valuesText = 'image: nginx'): PoolTemplate | Error {
    const random = seededRandom(7)
    try {
      return poolTemplate({
        templateText,
        valuesText,
        namespace: NAMESPACE,
        now: () => this.#clock.now(),
        randomBytes: (count) => random.bytes(count),
      })
    } catch (error) {
      if (error instanceof ClaimTemplateError) return error
      throw error
    }
  }
}
