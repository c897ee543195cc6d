import { type Kind, type KindQuery, TenureError } from '@tenure/kube'
import { leaseTarget, type LeaseTarget } from '../changes/lease-target.ts'
import type { LeaseCliContext, LeaseCliOptions } from './context.ts'

/** Resolves `deploy/web`, `deployments.apps/web` or `deployments.v1.apps/web`. */
export async function namedObject(
  context: LeaseCliContext,
  text: string,
  options: LeaseCliOptions,
): Promise<LeaseTarget> {
  const slash = text.indexOf('/')
  const [kindName, name] = [text.slice(0, slash), text.slice(slash + 1)]
  if (slash < 1 || name === '' || name.includes('/')) {
    throw new TenureError('TENURE_LEASE_ARGUMENT', `"${text}" is not an object: write kind/name, such as pod/test.`)
  }
  const kind = await kindNamed(context, kindName)
  return leaseTarget(kind, name, options.namespace ?? context.namespace)
}

export async function kindNamed(context: LeaseCliContext, text: string): Promise<Kind> {
  const [name = '', first, ...rest] = text.split('.')
  if (first === undefined) return await context.kinds.kind({ name })
  const versioned: KindQuery = { name, version: first, group: rest.join('.') }
  const isVersion = /^v\d+((alpha|beta)\d+)?$/.test(first)
  return await context.kinds.kind(isVersion ? versioned : { name, group: [first, ...rest].join('.') })
}
