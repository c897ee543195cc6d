import { kubeconfigError } from './kubeconfig-error.ts'
import { SecretValue } from '../secret-value.ts'
import type { PemSource } from '../connection-config.ts'

/**
 * Reads typed fields from parsed YAML. Every error names the file and the place in it. Unknown fields are ignored, as in
 * kubectl; null and empty strings count as unset.
 */
export class KubeconfigFields {
  readonly #value: Readonly<Record<string, unknown>>
  readonly file: string
  readonly place: string

  constructor(value: unknown, file: string, place: string) {
    this.file = file
    this.place = place
    if (value !== null && value !== undefined && (typeof value !== 'object' || Array.isArray(value))) {
      throw this.#wrong(undefined, 'must be a mapping')
    }
    this.#value = { ...value }
  }

  has(name: string): boolean {
    const value = this.#value[name]
    return value !== undefined && value !== null
  }

  raw(name: string): unknown {
    return this.#value[name] ?? undefined
  }

  fields(name: string): KubeconfigFields {
    return new KubeconfigFields(this.#value[name], this.file, this.#at(name))
  }

  /** A list of mappings; empty if unset. */
  list(name: string): KubeconfigFields[] {
    return this.#array(name).map((item, index) => new KubeconfigFields(item, this.file, `${this.#at(name)}[${index}]`))
  }

  text(name: string): string | undefined {
    const value = this.raw(name)
    if (value === undefined || value === '') return undefined
    if (typeof value !== 'string') throw this.#wrong(name, 'must be text: put it in quotes')
    return value
  }

  required(name: string): string {
    const value = this.text(name)
    if (value === undefined) throw this.#wrong(name, 'is missing')
    return value
  }

  flag(name: string): boolean {
    const value = this.raw(name)
    if (value === undefined) return false
    if (typeof value !== 'boolean') throw this.#wrong(name, 'must be true or false')
    return value
  }

  /** A list of strings; empty if unset. */
  texts(name: string): string[] {
    return this.#array(name).map((item) => {
      if (typeof item !== 'string') throw this.#wrong(name, 'must be a list of texts: put its items in quotes')
      return item
    })
  }

  /** A mapping from names to lists of strings; undefined if unset. */
  textLists(name: string): Record<string, string[]> | undefined {
    if (!this.has(name)) return undefined
    const inner = this.fields(name)
    return Object.fromEntries(Object.keys(inner.#value).map((key) => [key, inner.texts(key)]))
  }

  /** PEM from `<name>-data` (base64), or otherwise from the file in `name`. */
  pem(name: string, resolve: (path: string) => string): PemSource | undefined {
    const data = this.text(`${name}-data`)
    if (data !== undefined) {
      const pem = Buffer.from(data, 'base64').toString('utf8')
      if (!pem.includes('-----BEGIN ')) throw this.#wrong(`${name}-data`, 'must be PEM in base64')
      return { pem: new SecretValue(pem) }
    }
    const path = this.text(name)
    return path === undefined ? undefined : { file: resolve(path) }
  }

  #array(name: string): readonly unknown[] {
    const value = this.raw(name)
    if (value === undefined) return []
    if (!Array.isArray(value)) throw this.#wrong(name, 'must be a list')
    return value
  }

  #at(name: string): string {
    return this.place === '' ? name : `${this.place}.${name}`
  }

  #wrong(name: string | undefined, what: string): Error {
    const place = name === undefined ? this.place : this.#at(name)
    return kubeconfigError('INVALID', `The kubeconfig ${this.file} cannot be used: ${place || 'the file'} ${what}.`)
  }
}
