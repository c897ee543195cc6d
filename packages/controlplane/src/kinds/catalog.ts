import type { KubeObject } from '@tenure/kube'
import { systemClock, systemRandom } from '@tenure/kube'

import { ageOf } from '../printing/age.ts'
import { builtInColumns } from '../printing/built-in-columns.ts'
import type { Column, Printer, ResourceDefinition } from '../registry/types.ts'
import { resolveBuiltIn } from '../schema/openapi/builtin.ts'
import { ADMISSION_REGISTRATION } from './admissionregistration/webhook-configurations.ts'
import { API_EXTENSIONS } from './apiextensions/custom-resource-definition.ts'
import { API_REGISTRATION } from './apiregistration/api-service.ts'
import { APPS } from './apps/index.ts'
import { AUTOSCALING } from './autoscaling/horizontal-pod-autoscaler.ts'
import { BATCH } from './batch/index.ts'
import type { BuiltInResource } from './built-in-resource.ts'
import { CERTIFICATES } from './certificates/certificate-signing-request.ts'
import { createdAt, nameOf } from './common/columns.ts'
import type { ColumnValues, KindEntry, KindTable } from './common/kind-table.ts'
import { composeStrategy, fieldsOf } from './common/strategy.ts'
import { COORDINATION } from './coordination/lease.ts'
import { CORE } from './core/index.ts'
import type { ServiceAddressAllocator } from './core/service/service-addresses.ts'
import { ServiceAddresses } from './core/service/service-addresses.ts'
import { serviceKinds } from './core/service/service.ts'
import { DISCOVERY } from './discovery/endpoint-slice.ts'
import { EVENTS } from './events/events.ts'
import { FLOW_CONTROL } from './flowcontrol/flowcontrol.ts'
import { RESOURCES } from './generated/resources.ts'
import { NETWORKING } from './networking/index.ts'
import { NODE } from './node/runtime-class.ts'
import { POLICY } from './policy/pod-disruption-budget.ts'
import { RBAC } from './rbac/rbac.ts'
import { RESOURCE } from './resource/resource.ts'
import { SCHEDULING } from './scheduling/priority-class.ts'
import { STORAGE } from './storage/index.ts'

export interface BuiltInCatalogOptions {
  /** Allocates addresses to services. Default: an allocator that does not know stored services. */
  readonly addresses?: ServiceAddressAllocator
}

/** Returns every built-in resource of kube-apiserver, in the order of its discovery. */
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
    // Resolved on first use because most kinds are never used.
    get schema() {
      return resolveBuiltIn(schema)
    },
    resolve: resolveBuiltIn,
    hasStatus,
    scale: entry.scale,
    strategy: composeStrategy(hasStatus, entry.rules),
    printer: printerOf(`${plural}.${group}/${version}`, entry.columns),
    isBuiltIn: true,
    bucket: entry.bucket ?? name,
    storageVersionHash: resource.storageVersionHash,
    ...(entry.conversion && { conversion: entry.conversion }),
    subresources,
  }
}

const nameAndCreation: ColumnValues = (object) => [nameOf(object), createdAt(object)]

function printerOf(key: string, given: ColumnValues | undefined): Printer {
  const recorded = builtInColumns(key)
  const values = given ?? nameAndCreation
  return {
    // Without column values of its own, a kind prints its name and creation time.
    columns: given || recorded.length <= 2 ? recorded : NAME_AND_CREATION,
    cells: (object: KubeObject, now: number) => values(fieldsOf(object), (time) => ageOf(time, now), now),
  }
}

const NAME_AND_CREATION: readonly Column[] = [
  { name: 'Name', type: 'string', format: 'name', priority: 0, description: '' },
  { name: 'Created At', type: 'date', format: '', priority: 0, description: '' },
]
