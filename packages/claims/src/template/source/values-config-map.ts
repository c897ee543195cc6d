import { ConfigMap } from '@tenure/kube/kinds'
import type { Informer, OperatorContext } from '@tenure/runtime'
import { ClaimTemplateError } from '../types.ts'
import type { TextSource } from './text-file.ts'

export interface ValuesConfigMapOptions {
  readonly namespace: string
  readonly name: string
  readonly key: string
}

/** The values in a ConfigMap, which is watched. */
export class ValuesConfigMap implements TextSource {
  readonly #options: ValuesConfigMapOptions
  readonly #informer: Informer<ConfigMap>
  #end: (() => void) | undefined

  constructor({ informers }: Pick<OperatorContext, 'informers'>, options: ValuesConfigMapOptions) {
    const { name, namespace } = options
    this.#options = options
    this.#informer = informers.informer(ConfigMap, { namespace, fieldSelector: `metadata.name=${name}` })
  }

  /** Throws a ClaimTemplateError if the ConfigMap or its key is missing. */
  get text(): string {
    const { key, name, namespace } = this.#options
    const object = this.#informer.cache.get({ name, namespace })
    if (!object) throw new ClaimTemplateError(`the ConfigMap ${name} with the values does not exist`)
    const text = object.data?.[key]
    if (text === undefined) throw new ClaimTemplateError(`the ConfigMap ${name} with the values has no key ${key}`)
    return text
  }

  /** The owner of claims. */
  get owner(): { readonly name: string; readonly uid: string } | undefined {
    const { name, namespace } = this.#options
    const uid = this.#informer.cache.get({ name, namespace })?.metadata.uid
    return uid === undefined ? undefined : { name, uid }
  }

  start(onChange: () => void): void {
    this.#end = this.#informer.subscribe(onChange)
  }

  stop(): void {
    this.#end?.()
  }
}
