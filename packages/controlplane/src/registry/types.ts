import type { KubeObject, Stored } from '@tenure/kube'
import type { FieldError, Schema } from '../schema/types.ts'

/** Who asks. */
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
 * What is special about a kind; everything else is the same for all. Functions are pure: they return a new object or
 * complaints, and never change what they are given.
 */
export interface Strategy {
  /** Defaults that a schema can not express, on create, update and when read from storage. */
  defaults?(object: KubeObject): KubeObject
  /** Server-set fields before create: status dropped, clusterIP given, phase set… */
  prepareForCreate?(object: KubeObject): KubeObject
  /** Fields an update may not touch are taken from `old`; `status` updates are handled apart. */
  prepareForUpdate?(object: KubeObject, old: Stored<KubeObject>): KubeObject
  validate?(object: KubeObject): readonly FieldError[]
  /** Immutable fields and the like. */
  validateUpdate?(object: KubeObject, old: Stored<KubeObject>): readonly FieldError[]
  /** A write of the status is checked by this alone, and is not prepared. Default: as any other update. */
  validateStatus?(object: KubeObject): readonly FieldError[]
  /** What its sender should know, though it is taken. Without `old` it is new. */
  warnings?(object: KubeObject, old: Stored<KubeObject> | undefined): readonly string[]
  /** Field selectors beyond metadata.name and metadata.namespace: path → value. */
  readonly selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>
  /** Default propagation of a delete without one. Default `Background`. */
  readonly defaultPropagation?: 'Background' | 'Foreground' | 'Orphan'
  /** Seconds of grace when a delete names none; undefined deletes at once. Pods: spec.terminationGracePeriodSeconds ?? 30. */
  gracePeriod?(object: Stored<KubeObject>): number | undefined
  /** Changes an object when its deletion begins: finalizers that hold it, a condition (CustomResourceDefinitions). */
  beginDeletion?(object: Stored<KubeObject>): KubeObject
  /** A delete answers with the object instead of a Status, also when it is gone (pods, services…). Default false. */
  readonly returnsDeletedObject?: boolean
  /** It brings its status along when it is made (nodes). Default false. */
  readonly bringsStatus?: boolean
  /** An update that finds nothing creates (leases, events…). Default false. */
  readonly allowsCreateOnUpdate?: boolean
  /** Which fields count for `generation`; default: spec if the kind has a status subresource, everything but metadata/status otherwise; `false` keeps no generation (ConfigMap, Secret…). */
  readonly generation?: false | ((object: KubeObject) => unknown)
}

/** Where `scale` reads and writes, as dotted paths. */
export interface ScalePaths {
  readonly specReplicas: string
  readonly statusReplicas: string
  readonly labelSelector?: string
}

/** A served version of a resource: all there is to know about it. Built-ins are a table of these, CRDs make them at run time. */
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
  /** Said with every answer, of a kind that is no longer to be used. */
  readonly deprecation?: string | undefined
  /**
   * Its CustomResourceDefinition is being deleted: nothing new is made. What is there can still be changed, although
   * discovery does not say so: finalizers have to come off. Default false.
   */
  readonly isLeaving?: boolean
  /** Preserves unknown fields only where it says so. Undefined: everything is kept. */
  readonly schema: Schema | undefined
  /** Resolves `ref`s of the schema. */
  resolve(ref: string): Schema
  readonly hasStatus: boolean
  readonly scale: ScalePaths | undefined
  readonly strategy: Strategy
  readonly printer: Printer
  /** Built-in kinds take strategic merge patches. */
  readonly isBuiltIn: boolean
  /** Objects are stored under this: `deployments.apps`, the same for all versions. */
  readonly bucket: string
  /** Of a version whose fields are not those that are stored (events, autoscalers). Default: only apiVersion differs. */
  readonly conversion?: Conversion
  /** Of custom resources: what was stored before their definition became what it is. Default: all is stored as it is served. */
  readonly reading?: Reading
  /** As discovery lists them: `status`, `scale`, `eviction`… Default: what hasStatus and scale say. */
  readonly subresources?: readonly Subresource[]
}

/** Between a served version and the stored one. Pure. */
export interface Conversion {
  toStored(object: KubeObject): KubeObject
  fromStored(object: KubeObject): KubeObject
}

/** How objects are read that were stored under another schema. */
export interface Reading {
  /** The same for as long as the definition serves the same: watches end with it. */
  readonly era: object
  /** What was written by an earlier revision may not be as the schema wants it now. */
  readonly before: number
  /** The object with today's defaults and without what is no longer known; the one given if that is all the same. Pure. */
  fit(object: KubeObject): KubeObject
}

export interface Subresource {
  readonly name: string
  /** Of the kind that it takes and answers. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly verbs: readonly string[]
}

/** All resources that are served, now. */
export interface ResourceCatalog {
  find(group: string, version: string, plural: string): ResourceDefinition | undefined
  all(): readonly ResourceDefinition[]
  /** Called after the catalog changed. Returns what ends that. */
  onChange(listener: () => void): () => void
}
