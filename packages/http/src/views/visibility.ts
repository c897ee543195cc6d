import type { RequestHead } from '../routes/route.ts'
import type { View, ViewResource, ViewRow } from './view.ts'
import { HttpError } from '../errors/http-error.ts'

/** The resource that a row is and its namespace, which decide who sees it. */
export interface RowScope extends ViewResource {
  readonly namespace: string | undefined
}

export function scopeOf<R extends ViewRow>(view: View<R>, row: R): RowScope {
  const { group, resource } = view.resourceOf(row)
  return { group, resource, namespace: row.namespace }
}

const keyOf = ({ group, resource }: ViewResource): string => `${resource}.${group}`

/** The rows of a view that a caller sees. */
export interface Visibility {
  sees(scope: RowScope): boolean
  /** False for a resource that the view did not have when the caller's permissions were asked for. */
  isDecided(scope: RowScope): boolean
}

/** A request, as far as its permissions matter. */
export type Caller = Pick<RequestHead, 'authorize' | 'user'>

/**
 * Asks which resources of a view the caller may list, in one namespace or in all. Rejects with a 403 if there are resources
 * and it may list none of them.
 */
export async function visibilityOf(caller: Caller, view: View, namespace: string | undefined): Promise<Visibility> {
  const isInside = (scope: RowScope): boolean => namespace === undefined || scope.namespace === namespace
  // Without authentication everything is allowed, also resources that come later.
  if (!caller.user) return { sees: isInside, isDecided: () => true }
  const decisions = new Map<string, boolean>()
  let refusal: HttpError | undefined
  for (const resource of resourcesOf(view)) {
    try {
      await caller.authorize({ ...resource, verb: 'list', namespace })
      decisions.set(keyOf(resource), true)
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 403) throw error
      decisions.set(keyOf(resource), false)
      refusal ??= error
    }
  }
  if (refusal && ![...decisions.values()].includes(true)) throw refusal
  return {
    sees: (scope) => decisions.get(keyOf(scope)) === true && isInside(scope),
    isDecided: (scope) => decisions.has(keyOf(scope)),
  }
}

/** The different resources of a view's rows. */
function resourcesOf(view: View): readonly ViewResource[] {
  const resources = new Map<string, ViewResource>()
  for (const row of view.rows()) {
    const resource = view.resourceOf(row)
    const key = keyOf(resource)
    if (!resources.has(key)) resources.set(key, resource)
  }
  return [...resources.values()]
}
