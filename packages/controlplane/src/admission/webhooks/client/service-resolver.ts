import { goQuote } from '../../../schema/go-text.ts'
import type { Storage } from '../../../storage/types.ts'
import type { ResolveService } from './call-webhook.ts'

/** Resolves Services of type ExternalName only: the embedded control plane has no Service network. */
export function serviceResolver(storage: Storage): ResolveService {
  return ({ namespace, name, port }) => {
    const found = storage.get('services', `${namespace}/${name}`)
    if (!found) throw new Error(`service ${goQuote(name)} not found`)
    const { spec } = found.object as { readonly spec?: { readonly type?: string; readonly externalName?: string } }
    if (spec?.type === 'ExternalName' && spec.externalName) return { host: spec.externalName, port }
    throw new Error(
      `service ${goQuote(`${namespace}/${name}`)} has no network in the embedded control plane: set clientConfig.url instead, for instance to https://127.0.0.1:9443`,
    )
  }
}
