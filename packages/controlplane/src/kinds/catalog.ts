import type { KubeObject } from '@tenure/kube'
import { systemClock, systemRandom } from '@tenure/kube'

import { ADMISSION_REGISTRATION } from './admissionregistration/webhook-configurations.ts'
import { API_EXTENSIONS } from './apiextensions/custom-resource-definition.ts'
import { API_REGISTRATION } from './apiregistration/api-service.ts'
import { APPS } from './apps/index.ts'
import { AUTOSCALING } from './autoscaling/horizontal-pod-autoscaler.ts'
import { BATCH } from './batch/batch.ts'
import type { BuiltInResource } from './built-in-resource.ts'
import { CERTIFICATES } from './certificates/certificate-signing-request.ts'
import { COLUMNS, DESCRIPTIONS } from '../printing/generated/columns.ts'
import { COORDINATION } from './coordination/lease.ts'
import { CORE } from './core/index.ts'
import type { Cells, KindEntry, KindTable } from './common/kind-table.ts'
import type { Column, Printer, ResourceDefinition } from '../registry/types.ts'
import { DISCOVERY } from './discovery/endpoint-slice.ts'
import { EVENTS } from './events/events.ts'
import { FLOW_CONTROL } from './flowcontrol/flowcontrol.ts'
import { NETWORKING } from './networking/index.ts'
import { NODE } from './node/runtime-class.ts'
import { POLICY } from './policy/pod-disruption-budget.ts'
import { RBAC } from './rbac/rbac.ts'
import { RESOURCE } from './resource/resource.ts'
import { RESOURCES } from './generated/resources.ts'
import { SCHEDULING } from './scheduling/priority-class.ts'
import { STORAGE } from './storage/index.ts'
import type { ServiceAddressBook } from './core/service/service-addresses.ts'
import { ServiceAddresses } from './core/service/service-addresses.ts'
import { ageOf } from '../printing/age.ts'
import { composeStrategy, fieldsOf } from './common/strategy.ts'
import { createdAt, nameOf } from './common/columns.ts'
import { resolveBuiltIn } from '../schema/openapi/builtin.ts'
import { serviceKinds } from './core/service/service.ts'

export interface BuiltInCatalogOptions {
  /** Who gives services their addresses. Default: a book of its own, that knows of no stored service. */
  readonly addresses?: ServiceAddressBook
}

/** Every resource that is built in, as the real server has it, in the order of its discovery. */
export function builtInCatalog(options: BuiltInCatalogOptions = {}): readonly ResourceDefinition[] {
  const addresses = options.addresses ?? new ServiceAddresses({ random: systemRandom, clock: systemClock })
  const table: KindTable = {
    ...CORE,
    ...serviceKinds(addresses),
    ...EVENTS,
    ...APPS,
    ...BATCH,
    ...AUTOSCALING,
    ...NETWORKING,
    ...DISCOVERY,
    ...STORAGE,
    ...RBAC,
    ...ADMISSION_REGISTRATION,
    ...COORDINATION,
    ...POLICY,
    ...SCHEDULING,
    ...NODE,
    ...API_REGISTRATION,
    ...CERTIFICATES,
    ...FLOW_CONTROL,
    ...RESOURCE,
    ...API_EXTENSIONS,
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
