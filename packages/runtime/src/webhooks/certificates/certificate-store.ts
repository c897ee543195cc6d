import type { KubeApi, KubeObject, ObjectMeta, Stored } from '@tenure/kube'
import { defineKind, isAlreadyExists, isConflict, isNotFound } from '@tenure/kube'
import { joinBundle, splitBundle, validityOf } from '../../certificates/index.ts'
import type { Informers } from '../../informer/types.ts'
import type { CertificateState } from './rotation.ts'
import { faultOf } from './rotation.ts'

/** The stored certificates, as far as they are usable. */
export interface StoredCertificates {
  readonly state: CertificateState | undefined
  /** Why the stored state is unusable; undefined if it is usable or nothing is stored. */
  readonly fault: string | undefined
  /** Authorities that callers may trust, even if the rest is unusable. */
  readonly trusted: readonly string[]
  /** Version for a conditional write; undefined if nothing is stored. */
  readonly version: string | undefined
}

/** Stores certificates. The stored state is authoritative; a write over an older version is rejected. */
export interface CertificateStore {
  read(signal: AbortSignal): Promise<StoredCertificates>
  /** False if another replica wrote first. */
  write(state: CertificateState, version: string | undefined, signal: AbortSignal): Promise<boolean>
  /** Calls `onChange` when the stored state may have changed. Returns a function that unsubscribes. */
  watch(onChange: () => void): () => void
}

/** Keeps certificates in memory: for a single replica or for development. */
export class MemoryCertificateStore implements CertificateStore {
  #state: CertificateState | undefined

  read(): Promise<StoredCertificates> {
    const state = this.#state
    return Promise.resolve({ state, fault: undefined, trusted: state?.trusted ?? [], version: undefined })
  }

  write(state: CertificateState): Promise<boolean> {
    this.#state = state
    return Promise.resolve(true)
  }

  watch(): () => void {
    return () => undefined
  }
}

interface SecretObject extends KubeObject {
  readonly metadata?: ObjectMeta
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
}

const Secret = defineKind<SecretObject>({ apiVersion: 'v1', kind: 'Secret' })

export interface SecretRef {
  readonly namespace: string
  readonly name: string
}

/**
 * Keeps certificates in a Secret that all replicas share: the usual `tls.crt` and `tls.key`, `ca.crt` with every
 * trusted authority, newest first, and `ca.key` of the newest.
 */
export class SecretCertificateStore implements CertificateStore {
  readonly #ref: SecretRef
  readonly #api: KubeApi
  readonly #informers: Informers
  #last: Stored<SecretObject> | undefined
  /** The data last read or written; set before the response of a write, because its watch event may arrive earlier. */
  #data: SecretObject['data']

  constructor(ref: SecretRef, api: KubeApi, informers: Informers) {
    this.#ref = ref
    this.#api = api
    this.#informers = informers
  }

  async read(signal: AbortSignal): Promise<StoredCertificates> {
    try {
      this.#last = await this.#api.get(Secret, this.#ref, { signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
      this.#last = undefined
      this.#data = undefined
      return { state: undefined, fault: undefined, trusted: [], version: undefined }
    }
    this.#data = this.#last.data
    return { ...decode(this.#last.data ?? {}), version: this.#last.metadata.resourceVersion }
  }

  async write(state: CertificateState, version: string | undefined, signal: AbortSignal): Promise<boolean> {
    const { namespace, name } = this.#ref
    const data = encode(state)
    this.#data = data
    try {
      const last = this.#last
      this.#last =
        version === undefined || !last
          ? await this.#api.create(
              Secret,
              { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata: { namespace, name }, data },
              { signal },
            )
          : // Labels and other data stay unchanged.
            await this.#api.update(
              Secret,
              { ...last, metadata: { ...last.metadata, resourceVersion: version }, data: { ...last.data, ...data } },
              { signal },
            )
      return true
    } catch (error) {
      // Not found: deleted since it was read; the caller creates it again.
      if (isAlreadyExists(error) || isConflict(error) || isNotFound(error)) return false
      throw error
    }
  }

  watch(onChange: () => void): () => void {
    const { namespace, name } = this.#ref
    const informer = this.#informers.informer(Secret, { namespace, fieldSelector: `metadata.name=${name}` })
    return informer.subscribe((event) => {
      const isKnown = event.type !== 'deleted' && sameData(event.object.data, this.#data)
      if (!isKnown) onChange()
    })
  }
}

function encode(state: CertificateState): Readonly<Record<string, string>> {
  const files = {
    'ca.crt': joinBundle([state.authority.certificate, ...state.trusted]),
    'ca.key': state.authority.key,
    'tls.crt': state.serving.certificate,
    'tls.key': state.serving.key,
  }
  return Object.fromEntries(Object.entries(files).map(([file, text]) => [file, Buffer.from(text).toString('base64')]))
}

function decode(data: Readonly<Record<string, string>>): Omit<StoredCertificates, 'version'> {
  const text = (file: string): string => Buffer.from(data[file] ?? '', 'base64').toString('utf8')
  const missing = ['ca.crt', 'ca.key', 'tls.crt', 'tls.key'].filter((file) => !data[file])
  const trusted = splitBundle(text('ca.crt')).filter(isCertificate)
  const newest = trusted[0]
  if (missing.length > 0 || !newest) {
    // An empty Secret is valid: an administrator may create it so that the operator needs no permission to create
    // Secrets.
    const fault = missing.length === 4 ? undefined : `${missing.join(', ') || 'a certificate in ca.crt'} is missing`
    return { state: undefined, fault, trusted }
  }
  const state = {
    authority: { certificate: newest, key: text('ca.key') },
    trusted,
    serving: { certificate: text('tls.crt'), key: text('tls.key') },
  }
  const fault = faultOf(state)
  return { state: fault ? undefined : state, fault, trusted }
}

function sameData(one: SecretObject['data'], other: SecretObject['data']): boolean {
  return ['ca.crt', 'ca.key', 'tls.crt', 'tls.key'].every((file) => one?.[file] === other?.[file])
}

function isCertificate(pem: string): boolean {
  try {
    validityOf(pem)
    return true
  } catch {
    return false
  }
}
