import type { ActionAccess } from '../../data/access.ts'

/** The right that an action on claims needs. */
export function claimAccess(verb: string, namespace?: string): ActionAccess {
  return { group: 'claim-controller.io', resource: 'claims', verb, namespace }
}

/** The address of a path, as a program outside of the page calls it. */
export function absoluteUrl(path: string): string {
  return new URL(path, document.baseURI.replace(/#.*$/, '')).href
}
