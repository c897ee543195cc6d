import { TenureError } from '@tenure/kube'
import * as kubernetesKinds from '@tenure/kube/kinds'
import { isDnsSubdomain } from '@tenure/kube/model'

/** The names of a new operator and its kind. */
export interface NewOperatorNames {
  /** `shop-window`: the operator, its folder and its package. */
  readonly name: string
  /** `ShopWindow`. */
  readonly kind: string
  /** `shopWindow`. */
  readonly variable: string
  /** `shopwindow`, and `shopwindows` in URLs. */
  readonly singular: string
  readonly plural: string
  /** `example.dev`. */
  readonly group: string
}

/** A name is the beginning of names of Kubernetes objects with at most 63 characters. */
const MAX_LENGTH = 40
const NAME = /^[a-z](?:-?[a-z0-9])*$/

/** Names of types and values that the files of an operator import. */
const IMPORTED = ['Client', 'Condition', 'KubeObject', 'Stored']

/** The names of an operator. Throws with a better name, if there is one. */
export function operatorNames(name: string, group: string): NewOperatorNames {
  if (!NAME.test(name) || name.length > MAX_LENGTH) {
    const suggestion = suggestionFor(name)
    const remedy = suggestion === undefined ? '.' : `, such as ${suggestion}.`
    throw nameError(
      `${JSON.stringify(name)} is not a name for an operator: use at most ${MAX_LENGTH} lower-case letters, digits and single hyphens, and begin with a letter${remedy}`,
    )
  }
  if (!isDnsSubdomain(group) || !group.includes('.')) {
    throw nameError(`${JSON.stringify(group)} is not an API group: use a domain that you own, such as example.dev.`)
  }
  const kind = name.split('-').map(capitalized).join('')
  if (kind in kubernetesKinds)
    throw nameError(`${kind} is a kind of Kubernetes: choose another name for the operator, such as my-${name}.`)
  if (IMPORTED.includes(kind) || kind in globalThis)
    throw nameError(`${kind} is a name of the language or the runtime: choose another, such as my-${name}.`)
  const singular = name.replaceAll('-', '')
  const plural = pluralOf(singular)
  return { name, kind, variable: kind.charAt(0).toLowerCase() + kind.slice(1), singular, plural, group }
}

function suggestionFor(name: string): string | undefined {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[-0-9]+|-+$/g, '')
    .slice(0, MAX_LENGTH)
    .replace(/-+$/, '')
  return NAME.test(words) ? words : undefined
}

function pluralOf(singular: string): string {
  if (/(?:s|x|z|ch|sh)$/.test(singular)) return `${singular}es`
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function nameError(message: string): TenureError {
  return new TenureError('TENURE_INIT_NAME', message)
}
