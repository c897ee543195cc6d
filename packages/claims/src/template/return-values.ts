/** Annotations of rendered objects: return values and lazy creation. */
import { asJsonObject, asString, ownValue } from '@tenure/kube/model'
import { TEMPLATE_ANNOTATIONS } from '../api/names.ts'
import type { Manifest } from './types.ts'

const annotation = ({ metadata }: Manifest, key: string): string =>
  asString(ownValue(asJsonObject(metadata['annotations']), key))

/** Whether the object is created at hand-out, not while its claim sits in the pool. */
export const isLazy = (manifest: Manifest): boolean =>
  TEMPLATE_ANNOTATIONS.lazy.some((key) => annotation(manifest, key) === 'true')

/** The return values of all objects. Of equal keys the last wins. Text without `=` is ignored. */
export function returnValuesOf(manifests: readonly Manifest[]): Readonly<Record<string, string>> {
  const values = new Map<string, string>()
  for (const manifest of manifests) {
    for (const pair of annotation(manifest, TEMPLATE_ANNOTATIONS.return).split(/[,;\n]/)) {
      const equals = pair.indexOf('=')
      const key = pair.slice(0, Math.max(equals, 0)).trim()
      if (key !== '') values.set(key, pair.slice(equals + 1).trim())
    }
  }
  // fromEntries defines keys instead of assigning them: `__proto__` is an ordinary key.
  return Object.fromEntries(values)
}
