import type { KubeObject, Stored } from '@tenure/kube'
import type { FieldError, Schema } from '../schema/types.ts'

/** The user of a request. */
export interface User {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string
  /** `string`, `integer`, `date`, `boolean`, `number`. */
  readonly type: string
  readonly format?: string
  readonly description?: string
  /** Above 0: only with `-o wide`. Default 0. */
  readonly priority?: number
}

/** How objects of a kind are shown in tables. `now` in milliseconds. */
export interface Printer {
  readonly columns: readonly Column[]
  cells(object: KubeObject, now: number): readonly unknown[]
}

/**
 * The differences of a kind; everything else is the same for all. Functions are pure: they return a new object or errors
 * and never change their arguments.
 */
export interface Strategy {
  /** Defaults that a schema cannot express, on create, update and when read from storage. */
  defaults?(object: KubeObject): KubeObject
  /** Sets server-set fields before create: drops the status, allocates clusterIP, sets the phase… */
  prepareForCreate?(object: KubeObject): KubeObject
  /** Takes fields that an update cannot change from `old`; `status` updates are handled separately. */
  prepareForUpdate?(object: KubeObject, old: Stored<KubeObject>): KubeObject
  validate?(object: KubeObject): readonly FieldError[]
  /** Checks immutable fields and other changes. */
  validateUpdate?(object: KubeObject, old: Stored<KubeObject>): readonly FieldError[]
  /** A status write is checked only by this and is not prepared. Default: as any other update. */
  validateStatus?(object: KubeObject): readonly FieldError[]
  /** Warnings for an accepted object. Without `old` it is new. */
  warnings?(object: KubeObject, old: Stored<KubeObject> | undefined): readonly string[]
  /** Field selectors beyond metadata.name and metadata.namespace: path → value. */
  readonly selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>
  /** Propagation of a delete that names none. Default `Background`. */
  readonly defaultPropagation?: 'Background' | 'Foreground' | 'Orphan'
  /** Grace period in seconds of a delete that names none; undefined deletes at once. Pods: spec.terminationGracePeriodSeconds ?? 30. */
  gracePeriod?(object: Stored<KubeObject>): number | undefined
  /** Changes an object when its deletion begins: adds finalizers or a condition (CustomResourceDefinitions). */
  beginDeletion?(object: Stored<KubeObject>): KubeObject
  /** A delete returns the object instead of a Status, even when it is gone (pods, services…). Default false. */
  readonly returnsDeletedObject?: boolean
  /** A create keeps the status that was sent (nodes). Default false. */
  readonly keepsStatusOnCreate?: boolean
  /** An update of an absent object creates it (leases, events…). Default false. */
  readonly allowsCreateOnUpdate?: boolean
  /** The fields that `generation` counts; default: spec if the kind has a status subresource, else everything but metadata/status; `false`: no generation (ConfigMap, Secret…). */
  readonly generation?: false | ((object: KubeObject) => unknown)
}

/** The dotted paths that `scale` reads and writes. */
export interface ScalePaths {
  readonly specReplicas: string
  readonly statusReplicas: string
  readonly labelSelector?: string
}

/** A served version of a resource. Built-in ones come from a table, those of CRDs are made at run time. */
export interface ResourceDefinition {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  /** As discovery lists them. */
  readonly verbs: readonly string[]
  /** Warning of every response for a deprecated kind. */
  readonly deprecation?: string | undefined
  /**
   * Its CustomResourceDefinition is being deleted: no new objects are accepted. Existing ones can still be changed, although
   * discovery does not list it, because finalizers must be removed. Default false.
   */
  readonly isTerminating?: boolean
  /** Unknown fields are pruned unless the schema preserves them. Undefined: everything is kept. */
  readonly schema: Schema | undefined
  /** Resolves `ref`s of the schema. */
  resolve(ref: string): Schema
  readonly hasStatus: boolean
  readonly scale: ScalePaths | undefined
  readonly strategy: Strategy
  readonly printer: Printer
  /** Built-in kinds take strategic merge patches. */
  readonly isBuiltIn: boolean
  /** The storage bucket of its objects: `deployments.apps`, the same for all versions. */
  readonly bucket: string
  /** Identifies the version that objects are stored in, for discovery. Default: none. */
  readonly storageVersionHash?: string | undefined
  /** For a version whose fields differ from the stored ones (events, autoscalers). Default: only apiVersion differs. */
  readonly conversion?: Conversion
  /** Of custom resources: reads objects stored under an earlier definition. Default: objects are served as stored. */
  readonly storedReader?: StoredObjectReader
  /** As discovery lists them: `status`, `scale`, `eviction`… Default: according to hasStatus and scale. */
  readonly subresources?: readonly Subresource[]
}

/** Converts between a served version and the stored one. Pure. */
export interface Conversion {
  toStored(object: KubeObject): KubeObject
  fromStored(object: KubeObject): KubeObject
}

/** Reads objects that were stored under an earlier schema. */
export interface StoredObjectReader {
  /** Identity of the served definition: watches end when it changes. */
  readonly epoch: object
  /** Objects of earlier revisions may not conform to the current schema. */
  readonly beforeRevision: number
  /** The object with the current defaults and without unknown fields; the same object if nothing changes. Pure. */
  read(object: KubeObject): KubeObject
}

export interface Subresource {
  readonly name: string
  /** Group of the kind that it accepts and returns. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly verbs: readonly string[]
}

/** All resources that are served now. */
export interface ResourceCatalog {
  find(group: string, version: string, plural: string): ResourceDefinition | undefined
  all(): readonly ResourceDefinition[]
  /** Called after the catalog changed. Returns a function that ends this. */
  onChange(listener: () => void): () => void
}
