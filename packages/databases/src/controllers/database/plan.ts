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
import { type Random, type Stored, TenureError } from '@tenure/kube'
import { podFailureOf } from '@tenure/kube/model'
import { type Actions, apply, create, patch, remove } from '@tenure/runtime'
import { MANAGED_BY_LABEL, OPERATOR, RESOURCE_ID_LABEL } from '../../api/names.ts'
import type { FieldChange, JobType, ResourceRow } from '../../api/rows.ts'
import type { DatabaseConfig } from '../../config/database-config.ts'
import type { DatabaseNames } from '../../config/names.ts'
import { readDatabaseConfig } from '../../config/read-config.ts'
import { ENGINES, layoutOf, supportedVersions } from '../../engines/table.ts'
import { versionChange } from '../../engines/version.ts'
import {
  adopted,
  hasVolumes,
  immutableChanges,
  isLegacy,
  liveMajor,
  serverContainer,
  withLiveDefaults,
} from '../../objects/adoption.ts'
import { credentialsOf, secretDataOf } from '../../objects/credentials.ts'
import { databaseObjects, type DatabaseObjects } from '../../objects/database-objects.ts'
import { labelsOf, objectNames } from '../../objects/names.ts'
import { type StorageGrowth, storagePlan } from '../../objects/storage-plan.ts'
import { fieldChanges, onlyReplicas } from './field-changes.ts'
import { moveReason } from './placement.ts'
import type { DatabaseState } from './state.ts'

/** The label by which the StatefulSet controller tells pods of one revision from those of another. */
const REVISION_LABEL = 'controller-revision-hash'

/** Makes the cluster match a row. */
export interface ConvergePlan {
  readonly type: 'converge'
  readonly config: DatabaseConfig
  readonly jobType: JobType
  /** From what to what; empty if the row's owner would recognize no change, as after a repaired drift. */
  readonly changes: readonly FieldChange[]
  /** Lines for the job's log. */
  readonly notes: readonly string[]
  readonly actions: Actions
  /** The Service and the Secret that clients use; undefined: an adopted StatefulSet names none. */
  readonly serviceName: string | undefined
  readonly secretName: string | undefined
}

export type DatabasePlan =
  | ConvergePlan
  | { readonly type: 'refuse'; readonly jobType: JobType; readonly reason: string }

export interface DatabasePlanInput {
  readonly row: ResourceRow
  readonly names: DatabaseNames
  readonly state: DatabaseState
  readonly random: Random
}

/** Plans a row that is managed and not deleted. Pure, but for the password of a new database. */
export function planDatabase({ names, random, row, state }: DatabasePlanInput): DatabasePlan {
  const jobType: JobType = row.observedGeneration === undefined ? 'create' : 'update'
  const refuse = (reason: string): DatabasePlan => ({ type: 'refuse', jobType, reason })
  if (row.problem !== undefined) return refuse(row.problem)
  if (state.displaced) return refuse(moveReason(state.displaced, names))
  if (state.rival !== undefined)
    return refuse(`The resource ${state.rival} already has the name ${names.name} in the namespace ${names.namespace}.`)
  const read = readDatabaseConfig(row)
  if ('refused' in read) return refuse(read.refused)
  const { statefulSet: live } = state
  const owner = live?.metadata.labels?.[RESOURCE_ID_LABEL]
  if (owner !== undefined && owner !== row.id)
    return refuse(`The StatefulSet ${names.name} belongs to the resource ${owner}. Choose another name.`)
  const wanted = withPause(row, live ? withLiveDefaults(read.config, live) : read.config)
  if (live) {
    const problem = versionProblem(live, wanted)
    if (problem !== undefined) return refuse(problem)
  }
  if (live && isLegacy(live) && (hasVolumes(live) || !wanted.migrate)) return adopt({ names, row, state }, live, wanted)
  const engine = ENGINES[wanted.engine]
  if (!layoutOf(engine, wanted.major))
    return refuse(
      `The StatefulSet ${names.name} runs ${wanted.image}. Supported versions of ${engine.title} are ${supportedVersions(engine)}.`,
    )
  // The password of an earlier database of that name is not this row's.
  const isOwnSecret = state.deletedSecret?.metadata.labels?.[RESOURCE_ID_LABEL] === row.id
  const secret = state.secret ?? (isOwnSecret ? state.deletedSecret : undefined)
  const lost = secret ? undefined : passwordProblem(state, wanted, names)
  if (lost !== undefined) return refuse(lost)
  const credentials = credentialsOf(engine, secretDataOf(secret), random)
  const objects = databaseObjects({ ...names, resourceId: row.id, config: wanted, credentials })
  return own({ names, row, state, objects, config: wanted, notes: read.warnings })
}

interface OwnInput extends Omit<DatabasePlanInput, 'random'> {
  readonly objects: DatabaseObjects
  readonly config: DatabaseConfig
  readonly notes: readonly string[]
}

function own({ config, names, notes, objects, row, state }: OwnInput): DatabasePlan {
  const { statefulSet: live } = state
  const jobType = row.observedGeneration === undefined ? 'create' : 'update'
  // The volumes of a StatefulSet that is recreated for migration are new.
  const isReplaced = live !== undefined && isLegacy(live)
  const storage = live && !isReplaced ? storagePlan(live, state.claims, config) : undefined
  if (storage && 'refused' in storage) return { type: 'refuse', jobType, reason: storage.refused }
  const immutable = live && !isReplaced ? immutableChanges(live, objects.statefulSet) : []
  if (immutable.length > 0) return { type: 'refuse', jobType, reason: immutable.join(' ') }
  const isTerminating = live?.metadata.deletionTimestamp !== undefined
  const changes = fieldChanges({
    config,
    live,
    desired: objects.statefulSet,
    liveConfigMap: state.configMap,
    configMap: objects.configMap,
  })
  const actions: Actions = [
    create(Namespace, objects.namespace),
    create(Secret, objects.secret, state.deletedSecret ? {} : { adopt: refuseForeignSecret }),
    // A Secret that was restored for this database may have the id of an earlier row.
    state.secret !== undefined &&
      state.secret.metadata.labels?.[RESOURCE_ID_LABEL] !== row.id &&
      patch(Secret, state.secret, { metadata: { labels: { [RESOURCE_ID_LABEL]: row.id } } }),
    // It may only have lost the label by which the operator sees it; then it has the right password already.
    state.secret === undefined &&
      state.deletedSecret !== undefined &&
      apply(Secret, { apiVersion: 'v1', kind: 'Secret', metadata: objects.secret.metadata ?? {} }),
    apply(ConfigMap, objects.configMap),
    foreignPorts(state.headlessService, objects.headlessService),
    apply(Service, objects.headlessService),
    foreignPorts(state.clientService, objects.clientService),
    apply(Service, objects.clientService),
    ...growth(storage, state),
    // The pods go on without their StatefulSet until the next one, which has the new size, takes them over.
    live !== undefined &&
      !isTerminating &&
      storage?.recreate === true &&
      remove(StatefulSet, live, { propagation: 'Orphan' }),
    live !== undefined && !isTerminating && isReplaced && remove(StatefulSet, live),
    // While one terminates its name is taken; its deletion brings the row back.
    !isTerminating && !isReplaced && storage?.recreate !== true && apply(StatefulSet, objects.statefulSet),
    ...budgetActions(objects, state),
    ...stuckPods(state),
  ]
  return {
    type: 'converge',
    config,
    jobType: jobTypeOf(row, state, changes),
    changes,
    notes,
    actions,
    serviceName: objectNames(names.name).clientService,
    secretName: objectNames(names.name).secret,
  }
}

/** A StatefulSet that another program created keeps everything that the row does not name. */
function adopt(
  { names, row, state }: Omit<DatabasePlanInput, 'random'>,
  live: NonNullable<DatabaseState['statefulSet']>,
  config: DatabaseConfig,
): DatabasePlan {
  const jobType = row.observedGeneration === undefined ? 'create' : 'update'
  // Its version may be one that the operator would not create, so nothing else is rendered.
  const adoption = adopted(live, { metadata: { ...names, labels: labelsOf(names.name, row.id) } }, config)
  if ('refused' in adoption) return { type: 'refuse', jobType, reason: adoption.refused }
  const storage = storagePlan(live, state.claims, config)
  if ('refused' in storage) return { type: 'refuse', jobType, reason: storage.refused }
  const changes = fieldChanges({
    config,
    live,
    desired: adoption.statefulSet,
    liveConfigMap: undefined,
    configMap: undefined,
  })
  const isTerminating = live.metadata.deletionTimestamp !== undefined
  return {
    type: 'converge',
    config,
    jobType: jobTypeOf(row, state, changes),
    changes,
    notes: adoption.warnings,
    actions: [
      ...growth(storage, state),
      !isTerminating && apply(StatefulSet, adoption.statefulSet),
      ...stuckPods(state),
    ],
    serviceName: adoption.serviceName,
    secretName: adoption.secretName,
  }
}

/** A Secret without the operator's label is not in its cache, and its password may be any. */
function refuseForeignSecret({ metadata }: { readonly metadata: Stored<Secret>['metadata'] }): Error | undefined {
  if (metadata.labels?.[MANAGED_BY_LABEL] === OPERATOR) return undefined
  return new TenureError(
    'TENURE_DATABASE_SECRET_TAKEN',
    `The Secret ${metadata.name} exists and is not managed by the operator. Delete it; or, if it has the password of this ` +
      `database, label it ${MANAGED_BY_LABEL}=${OPERATOR}.`,
  )
}

/** A paused database has no pods and keeps its volumes. */
function withPause(row: ResourceRow, config: DatabaseConfig): DatabaseConfig {
  return row.status === 'paused' ? { ...config, replicas: 0 } : config
}

function jobTypeOf(row: ResourceRow, { statefulSet }: DatabaseState, changes: readonly FieldChange[]): JobType {
  // The platform may have queued the job.
  if (row.job && row.job.type !== 'delete') return row.job.type
  if (row.observedGeneration === undefined) return 'create'
  if (!statefulSet || changes.length === 0) return 'update'
  return onlyReplicas(changes) ? 'scale' : 'update'
}

function versionProblem(live: StatefulSet, config: DatabaseConfig): string | undefined {
  const image = serverContainer(live, config)?.image
  if (image === undefined) return undefined
  const change = versionChange(ENGINES[config.engine], image, config.image, {
    isMajorAllowed: config.allowMajorUpgrade,
    majors: { from: liveMajor(live, config), to: config.major },
  })
  return typeof change === 'string' ? undefined : change.refused
}

/** PostgreSQL and MariaDB keep their first password in the data, so a new Secret would not open it. */
function passwordProblem(state: DatabaseState, config: DatabaseConfig, { name }: DatabaseNames): string | undefined {
  const { claims } = state
  if (ENGINES[config.engine].isReplicated || claims.length === 0) return undefined
  const { secret: secretName } = objectNames(name)
  return (
    `The volume claim ${claims[0]?.metadata.name} of an earlier database exists, and the Secret ${secretName} with its password ` +
    'does not. Restore the Secret, or delete the claim, or choose another name.'
  )
}

/** Claims grow also while their pods fail: a full disk is when they must. */
function growth(storage: StorageGrowth | undefined, { claims }: DatabaseState): Actions {
  return (storage?.grow ?? []).map(({ name, to }) => {
    const claim = claims.find(({ metadata }) => metadata.name === name)
    return claim && patch(PersistentVolumeClaim, claim, { spec: { resources: { requests: { storage: to } } } })
  })
}

/** Apply keeps ports that another writer has added or renumbered, and the API server refuses two of one name. */
function foreignPorts(live: DatabaseState['clientService'], { spec }: Service): Actions[number] {
  const ports = spec?.ports ?? []
  const numbers = new Set(ports.map(({ port }) => port))
  const isForeign = live?.spec?.ports?.some(({ port }) => !numbers.has(port)) ?? false
  return live !== undefined && isForeign && patch(Service, live, { spec: { ports } })
}

function budgetActions(
  { podDisruptionBudget }: DatabaseObjects,
  { podDisruptionBudget: live }: DatabaseState,
): Actions {
  if (podDisruptionBudget) return [apply(PodDisruptionBudget, podDisruptionBudget)]
  return live ? [remove(PodDisruptionBudget, live)] : []
}

/**
 * A pod that fails is not replaced by the StatefulSet controller when the template is corrected, so it is deleted; its
 * volume stays.
 */
function stuckPods({ pods, statefulSet }: DatabaseState): Actions {
  const revision = statefulSet?.status?.updateRevision
  if (revision === undefined || statefulSet?.metadata.generation !== statefulSet?.status?.observedGeneration) return []
  return pods
    .filter((pod) => pod.metadata.labels?.[REVISION_LABEL] !== revision && podFailureOf(pod) !== undefined)
    .filter((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === statefulSet?.metadata.uid))
    .map((pod) => remove(Pod, pod))
}
