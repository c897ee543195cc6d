import { type Kind, type KindQuery, type ObjectRef, TenureError } from '@tenure/kube'
import type { LeaseCliContext, LeaseCliOptions } from './context.ts'

/** The object that a command line names. */
export interface NamedObject {
  readonly kind: Kind
  readonly ref: ObjectRef
  /** `deployment.apps/web`, for messages. */
  readonly label: string
}

/** Resolves `deploy/web`, `deployments.apps/web` or `deployments.v1.apps/web`. */
export async function namedObject(
  context: LeaseCliContext,
  text: string,
  options: LeaseCliOptions,
): Promise<NamedObject> {
  const slash = text.indexOf('/')
  const [kindName, name] = [text.slice(0, slash), text.slice(slash + 1)]
  if (slash < 1 || name === '' || name.includes('/')) {
    throw new TenureError('TENURE_LEASE_ARGUMENT', `"${text}" is not an object: write kind/name, such as pod/test.`)
  }
  const kind = await kindNamed(context, kindName)
  const namespace = kind.namespaced ? (options.namespace ?? context.namespace) : undefined
  const label = `${kind.kind.toLowerCase()}${kind.group && `.${kind.group}`}/${name}`
  return { kind, ref: namespace === undefined ? { name } : { name, namespace }, label }
}

export async function kindNamed(context: LeaseCliContext, text: string): Promise<Kind> {
  const [name = '', first, ...rest] = text.split('.')
  if (first === undefined) return await context.kinds.kind({ name })
  const versioned: KindQuery = { name, version: first, group: rest.join('.') }
  const isVersion = /^v\d+((alpha|beta)\d+)?$/.test(first)
  return await context.kinds.kind(isVersion ? versioned : { name, group: [first, ...rest].join('.') })
}

/** As kubectl accepts it: `deployments.apps`. */
export function resourceName({ group, plural }: Kind): string {
  return group === '' ? plural : `${plural}.${group}`
}
