import type { KubeObject } from '@tenure/kube'
import { readinessOf } from '@tenure/runtime/readiness'

/** An object in the tree of owners. */
export interface ObjectNode {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly uid: string
  /** Undefined: the reader may not see the object's status, or the object is gone. */
  readonly ready?: boolean
  readonly message?: string
  readonly children?: readonly ObjectNode[]
}

export type Found = KubeObject & { readonly apiVersion: string; readonly kind: string }

/** `withStatus` false: only its metadata is known. */
export function nodeOf(object: Found, withStatus: boolean): ObjectNode {
  const { apiVersion, kind, metadata } = object
  const { name = '', namespace, uid = '' } = metadata ?? {}
  const readiness = withStatus ? readinessOf(object) : undefined
  return {
    apiVersion,
    kind,
    ...(namespace !== undefined && { namespace }),
    name,
    uid,
    ...(readiness && { ready: readiness.isReady, message: readiness.message }),
  }
}

const MAX_DEPTH = 8

/** The objects that `uid` owns, directly and through others. */
export function childrenOf(uid: string, candidates: readonly ObjectNodeWithOwners[]): readonly ObjectNode[] {
  const byOwner = new Map<string, ObjectNodeWithOwners[]>()
  for (const candidate of candidates) {
    for (const owner of candidate.owners) {
      const owned = byOwner.get(owner)
      if (owned) owned.push(candidate)
      else byOwner.set(owner, [candidate])
    }
  }
  const below = (owner: string, depth: number): readonly ObjectNode[] =>
    depth === 0
      ? []
      : (byOwner.get(owner) ?? []).map(({ node }) => {
          const children = below(node.uid, depth - 1)
          return children.length > 0 ? { ...node, children } : node
        })
  return below(uid, MAX_DEPTH)
}

export interface ObjectNodeWithOwners {
  readonly node: ObjectNode
  /** uids */
  readonly owners: readonly string[]
}
