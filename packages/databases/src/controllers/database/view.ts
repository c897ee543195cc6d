import type { KubeObject, Stored } from '@tenure/kube'
import {
  ConfigMap,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
} from '@tenure/kube/kinds'
import type { Informer, Informers } from '@tenure/runtime'
import { LRUCache } from 'lru-cache'
import { APP_LABEL, MANAGED_BY_LABEL, OPERATOR, RESOURCE_ID_LABEL } from '../../api/names.ts'
import type { DatabaseNames } from '../../config/names.ts'
import { objectNames } from '../../objects/names.ts'
import type { DatabaseState } from './state.ts'

const DATABASE_INDEX = 'database'
const RESOURCE_ID_INDEX = 'resource id'
const MANAGED_SELECTOR = `${MANAGED_BY_LABEL}=${OPERATOR}`
/** Secrets that were deleted and not created again yet. */
const MAX_DELETED_SECRETS = 1_000

/** The caches of the cluster side, and the names of databases that their events concern. */
export class DatabaseView {
  readonly #namespaces: Informer<Namespace>
  readonly #statefulSets: Informer<StatefulSet>
  readonly #secrets: Informer<Secret>
  readonly #configMaps: Informer<ConfigMap>
  readonly #services: Informer<Service>
  readonly #budgets: Informer<PodDisruptionBudget>
  readonly #pods: Informer<Pod>
  readonly #claims: Informer<PersistentVolumeClaim>
  /** Secrets that were deleted while this process watched, by `namespace/name`. */
  readonly #deletedSecrets = new LRUCache<string, Stored<Secret>>({ max: MAX_DELETED_SECRETS })

  constructor(informers: Informers) {
    const managed = { labelSelector: MANAGED_SELECTOR }
    // The pods and claims of an adopted StatefulSet have only the labels of its selector.
    const labelled = { labelSelector: APP_LABEL }
    this.#namespaces = informers.informer(Namespace)
    // Every database has objects of one pattern.
    const alike = { alike: true }
    this.#statefulSets = informers.informer(StatefulSet, {}, alike)
    this.#secrets = informers.informer(Secret, managed, alike)
    this.#configMaps = informers.informer(ConfigMap, managed, alike)
    this.#services = informers.informer(Service, managed, alike)
    this.#budgets = informers.informer(PodDisruptionBudget, managed, alike)
    this.#pods = informers.informer(Pod, labelled, alike)
    this.#claims = informers.informer(PersistentVolumeClaim, labelled, alike)
    addDatabaseIndex(this.#pods)
    addDatabaseIndex(this.#claims)
    addResourceIndex(this.#statefulSets)
    addResourceIndex(this.#secrets)
  }

  /** Of all kinds that plans apply, create, patch or remove. */
  get informers(): readonly Informer<KubeObject>[] {
    return [
      this.#namespaces,
      this.#statefulSets,
      this.#secrets,
      this.#configMaps,
      this.#services,
      this.#budgets,
      this.#pods,
      this.#claims,
    ]
  }

  state({ name, namespace }: DatabaseNames, rival: string | undefined): DatabaseState {
    const names = objectNames(name)
    const secretKey = `${namespace}/${names.secret}`
    const secret = this.#secrets.cache.getByKey(secretKey)
    if (secret) this.#deletedSecrets.delete(secretKey)
    return {
      namespace: this.#namespaces.cache.get({ name: namespace }),
      statefulSet: this.#statefulSets.cache.get({ name: names.statefulSet, namespace }),
      secret,
      configMap: this.#configMaps.cache.get({ name: names.configMap, namespace }),
      clientService: this.#services.cache.get({ name: names.clientService, namespace }),
      headlessService: this.#services.cache.get({ name: names.headlessService, namespace }),
      podDisruptionBudget: this.#budgets.cache.get({ name: names.podDisruptionBudget, namespace }),
      pods: this.#pods.cache.byIndex(DATABASE_INDEX, `${namespace}/${name}`).filter((pod) => isDatabasePod(pod, name)),
      claims: this.#claims.cache
        .byIndex(DATABASE_INDEX, `${namespace}/${name}`)
        .filter(({ metadata }) => withoutOrdinal(metadata.name).endsWith(`-${name}`)),
      deletedSecret: this.#deletedSecrets.get(secretKey),
      displaced: undefined,
      rival,
    }
  }

  /** The names of all databases whose StatefulSet or Secret has the id of a row. */
  namesOf(id: string): readonly DatabaseNames[] {
    const found = [this.#statefulSets, this.#secrets].flatMap(({ cache }) =>
      cache.byIndex(RESOURCE_ID_INDEX, id).map(({ metadata }) => ({
        name: metadata.labels?.[APP_LABEL] ?? metadata.name,
        namespace: metadata.namespace ?? '',
      })),
    )
    return [...new Map(found.map((names) => [`${names.namespace}/${names.name}`, names])).values()]
  }

  /** Calls `onChange` with the database, or with the namespace alone, that an event concerns. Returns a function that ends that. */
  subscribe(onChange: (namespace: string, name?: string) => void): () => void {
    const ends = [
      this.#namespaces.subscribe((event) => {
        // A namespace that only changes its labels changes no database.
        if (event.type !== 'modified') onChange(event.object.metadata.name)
      }),
      this.#statefulSets.subscribe(({ object }) => onChange(object.metadata.namespace ?? '', object.metadata.name)),
      this.#secrets.subscribe(({ object, type }) => {
        if (type === 'deleted') this.#deletedSecrets.set(`${object.metadata.namespace}/${object.metadata.name}`, object)
      }),
      ...[this.#secrets, this.#configMaps, this.#services, this.#budgets, this.#pods, this.#claims].map((informer) =>
        onDatabaseEvent(informer as unknown as Informer<KubeObject>, onChange),
      ),
    ]
    return () => ends.forEach((end) => end())
  }
}

/** Another program may give the same label to pods of its own. */
function isDatabasePod({ metadata }: Stored<Pod>, name: string): boolean {
  if (withoutOrdinal(metadata.name) !== name) return false
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true)
  // A StatefulSet that is recreated leaves its pods without an owner for a moment.
  if (!controller) return metadata.labels?.[MANAGED_BY_LABEL] === OPERATOR
  return controller.kind === 'StatefulSet' && controller.name === name
}

/** Empty if the name has no ordinal. */
function withoutOrdinal(name: string): string {
  return /^(.+)-\d+$/.exec(name)?.[1] ?? ''
}

function onDatabaseEvent(
  informer: Informer<KubeObject>,
  onChange: (namespace: string, name?: string) => void,
): () => void {
  return informer.subscribe(({ object }) => {
    const { labels, name, namespace = '' } = object.metadata
    const app = labels?.[APP_LABEL]
    // Another writer may have taken the label away: the name still tells.
    const names = app === undefined ? [name, name.replace(/-[^-]+$/, '')] : [app]
    for (const database of names) onChange(namespace, database)
  })
}

/** Rows must find their databases without a look at all of them. */
function addResourceIndex<T extends KubeObject>(informer: Informer<T>): void {
  informer.addIndex(RESOURCE_ID_INDEX, ({ metadata }: Stored<T>) => {
    const id = metadata.labels?.[MANAGED_BY_LABEL] === OPERATOR ? metadata.labels[RESOURCE_ID_LABEL] : undefined
    return id === undefined ? [] : [id]
  })
}

function addDatabaseIndex<T extends KubeObject>(informer: Informer<T>): void {
  informer.addIndex(DATABASE_INDEX, ({ metadata }: Stored<T>) => {
    const app = metadata.labels?.[APP_LABEL]
    return app === undefined ? [] : [`${metadata.namespace}/${app}`]
  })
}
