import type { KubeObject } from '@tenure/kube'
import { systemClock, systemRandom } from '@tenure/kube'

import type { Column, Printer, ResourceDefinition } from '../registry/types.ts'
import { resolveBuiltIn } from '../schema/builtin.ts'
import { CRDS } from '../crd/kind.ts'
import { ACCESS } from './access.ts'
import { ageOf } from './age.ts'
import { AUTOSCALING } from './autoscaling.ts'
import { BATCH } from './batch.ts'
import type { BuiltInResource } from './built-in-resource.ts'
import { createdAt, nameOf } from './cells.ts'
import { CORE } from './core.ts'
import { DAEMON_SETS } from './daemon-set.ts'
import { EVENTS } from './events.ts'
import { COLUMNS, DESCRIPTIONS } from './generated/columns.ts'
import { RESOURCES } from './generated/resources.ts'
import type { Cells, KindEntry, KindTable } from './kind-table.ts'
import { NETWORKING } from './networking.ts'
import { PODS } from './pod.ts'
import { ServiceAddresses } from './service-addresses.ts'
import type { ServiceAddressBook } from './service-addresses.ts'
import { serviceKinds } from './service.ts'
import { STATEFUL_SETS } from './stateful-set.ts'
import { SMALL_KINDS } from './small-kinds.ts'
import { composeStrategy, fieldsOf } from './strategy.ts'
import { VOLUMES } from './volumes.ts'
import { WEBHOOKS } from './webhook-kinds.ts'
import { WORKLOADS } from './workloads.ts'

export interface BuiltInCatalogOptions {
  /** Who gives services their addresses. Default: a book of its own, that knows of no stored service. */
  readonly addresses?: ServiceAddressBook
}

/** Every resource that is built in, as the real server has it, in the order of its discovery. */
export function builtInCatalog(options: BuiltInCatalogOptions = {}): readonly ResourceDefinition[] {
  const addresses = options.addresses ?? new ServiceAddresses({ random: systemRandom, clock: systemClock })
  const table: KindTable = {
    ...CORE,
    ...PODS,
    ...serviceKinds(addresses),
    ...VOLUMES,
    ...EVENTS,
    ...WORKLOADS,
    ...STATEFUL_SETS,
    ...DAEMON_SETS,
    ...BATCH,
    ...AUTOSCALING,
    ...NETWORKING,
    ...ACCESS,
    ...WEBHOOKS,
    ...SMALL_KINDS,
    ...CRDS,
  }
  return RESOURCES.map((resource) => define(resource, table))
}

function define(resource: BuiltInResource, table: KindTable): ResourceDefinition {
  const { group, version, kind, plural, schema, subresources = [] } = resource
  const name = group ? `${plural}.${group}` : plural
  const entry: KindEntry = table[`${name}/${version}`] ?? table[name] ?? {}
  const hasStatus = subresources.some((one) => one.name === 'status')
  return {
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural,
    singular: resource.singular,
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    namespaced: resource.namespaced,
    verbs: resource.verbs,
    deprecation: entry.deprecation,
    // Read when first asked for: most kinds are never used.
    get schema() {
      return resolveBuiltIn(schema)
    },
    resolve: resolveBuiltIn,
    hasStatus,
    scale: entry.scale,
    strategy: composeStrategy(hasStatus, entry.rules),
    printer: printerOf(`${plural}.${group}/${version}`, entry.cells),
    isBuiltIn: true,
    bucket: entry.bucket ?? name,
    ...(entry.conversion && { conversion: entry.conversion }),
    subresources,
  }
}

const createdCells: Cells = (object) => [nameOf(object), createdAt(object)]

function printerOf(key: string, given: Cells | undefined): Printer {
  const columns = columnsOf(key)
  // Without cells of its own a kind has these two columns, here and there.
  const cells = given ?? createdCells
  const shown = given || columns.length <= 2 ? columns : FALLBACK
  return {
    columns: shown,
    cells: (object: KubeObject, now: number) => cells(fieldsOf(object), (time) => ageOf(time, now), now),
  }
}

const FALLBACK: readonly Column[] = [
  { name: 'Name', type: 'string', format: 'name', priority: 0, description: '' },
  { name: 'Created At', type: 'date', format: '', priority: 0, description: '' },
]

function columnsOf(key: string): readonly Column[] {
  return (COLUMNS[key] ?? []).map(([name, type, format, priority, description]) => ({
    name,
    type,
    format,
    priority,
    description: DESCRIPTIONS[description] ?? '',
  }))
}
