import { dnsSubdomain, type JsonObject, parseImage } from '@tenure/kube/model'
import type { ResourceRow } from '../api/rows.ts'
import type { Engine } from '../engines/engine.ts'
import { readSettings } from '../engines/settings.ts'
import { engineOf, layoutOf, supportedVersions } from '../engines/table.ts'
import { majorOf } from '../engines/version.ts'
import {
  CONFIG_KEYS,
  type ConfigKey,
  type DatabaseConfig,
  DEFAULT_CPU_REQUEST,
  DEFAULT_MEMORY_REQUEST,
  DEFAULT_STORAGE_SIZE,
  MAX_REPLICAS,
} from './database-config.ts'
import {
  ConfigFieldError,
  fieldError,
  isMoreThan,
  readBoolean,
  readInteger,
  readQuantity,
  readText,
  shownValue,
} from './fields.ts'

export type ReadDatabaseConfig =
  | { readonly config: DatabaseConfig; readonly warnings: readonly string[] }
  | { readonly refused: string }

/**
 * Reads the desired state of a row. A key may have the engine's name in front, as the platform's forms write it:
 * `postgresql_version` is `version`; the plain key wins. NULL and the empty text count as not given.
 */
export function readDatabaseConfig(row: Pick<ResourceRow, 'type' | 'config'>): ReadDatabaseConfig {
  const engine = engineOf(row.type)
  if (!engine) return { refused: `unsupported resource type: ${row.type}` }
  try {
    const { values, warnings } = collectValues(engine, row.config)
    return { config: configOf(engine, values), warnings: [...warnings, ...imageWarnings(engine, values)] }
  } catch (error) {
    if (error instanceof ConfigFieldError) return { refused: error.message }
    throw error
  }
}

type Values = ReadonlyMap<ConfigKey, unknown>

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

function collectValues(
  engine: Engine,
  config: JsonObject,
): { readonly values: Values; readonly warnings: readonly string[] } {
  const values = new Map<ConfigKey, unknown>()
  const warnings: string[] = []
  const prefix = `${engine.name}_`
  for (const [key, value] of Object.entries(config)) {
    const plain = key.startsWith(prefix) ? key.slice(prefix.length) : key
    const known = CONFIG_KEYS.find((name) => name === plain)
    if (known === undefined) warnings.push(`Unknown config key ${shownValue(key)} is ignored.`)
    else if (isGiven(value) && (plain === key || !isGiven(config[known]))) values.set(known, value)
  }
  return { values, warnings }
}

function configOf(engine: Engine, values: Values): DatabaseConfig {
  const { image, major } = imageOf(engine, values)
  const read = readSettings(values.get('settings'), engine.format)
  if ('refused' in read) throw new ConfigFieldError(read.refused)
  const flag = (key: ConfigKey): boolean => values.has(key) && readBoolean(key, values.get(key))
  return {
    engine: engine.name,
    major,
    image,
    replicas: replicasOf(engine, values),
    storageSize: quantityOf(values, 'storage_size') ?? DEFAULT_STORAGE_SIZE,
    storageClass: storageClassOf(values),
    ...resourcesOf(engine, values),
    settings: read.settings,
    allowMajorUpgrade: flag('allow_major_upgrade'),
    migrate: flag('migrate'),
    deleteData: flag('delete_data'),
    given: new Set(values.keys()),
  }
}

function replicasOf(engine: Engine, values: Values): number {
  const value = values.get('replicas')
  if (value === undefined) return 1
  const replicas = readInteger('replicas', value, 0, MAX_REPLICAS)
  if (replicas > 1 && !engine.isReplicated) {
    throw fieldError('replicas', value, `${engine.title} is not replicated, so a second pod would be a second database`)
  }
  return replicas
}

const quantityOf = (values: Values, key: ConfigKey): string | undefined =>
  values.has(key) ? readQuantity(key, values.get(key)) : undefined

function storageClassOf(values: Values): string | undefined {
  if (!values.has('storage_class')) return undefined
  const name = readText('storage_class', values.get('storage_class'))
  if (dnsSubdomain(name).length > 0) throw fieldError('storage_class', name, 'it must be the name of a StorageClass')
  return name
}

/** A given limit lowers the default request, and a given request raises the default limit. */
function resourcesOf(engine: Engine, values: Values): Pick<DatabaseConfig, 'requests' | 'limits'> {
  const cpuLimit = quantityOf(values, 'cpu_limit')
  const memoryLimit = quantityOf(values, 'memory_limit')
  const cpu = requestOf(values, 'cpu', DEFAULT_CPU_REQUEST, cpuLimit)
  const memory = requestOf(values, 'memory', DEFAULT_MEMORY_REQUEST, memoryLimit)
  const limit = memoryLimit ?? (isMoreThan(memory, engine.defaultMemoryLimit) ? memory : engine.defaultMemoryLimit)
  // Without a limit a database uses idle processors; a limit by default would only slow it down.
  return { requests: { cpu, memory }, limits: { ...(cpuLimit !== undefined && { cpu: cpuLimit }), memory: limit } }
}

function requestOf(values: Values, name: 'cpu' | 'memory', standard: string, limit: string | undefined): string {
  const given = quantityOf(values, `${name}_request`)
  if (limit === undefined) return given ?? standard
  if (given === undefined) return isMoreThan(standard, limit) ? limit : standard
  if (isMoreThan(given, limit)) {
    throw fieldError(`${name}_request`, given, `it is more than ${name}_limit ${limit}`)
  }
  return given
}

function imageOf(engine: Engine, values: Values): Pick<DatabaseConfig, 'image' | 'major'> {
  const version = values.has('version') ? versionOf(engine, values.get('version')) : undefined
  if (!values.has('image')) {
    if (version === undefined) return { major: engine.defaultMajor, image: defaultImage(engine) }
    return { major: supported(engine, 'version', version, majorOf(engine, version)), image: engine.imageFor(version) }
  }
  const image = readText('image', values.get('image'))
  if (!parseImage(image)) throw fieldError('image', image, 'it must be an image reference such as postgres:16-alpine')
  const named = majorOf(engine, image)
  const stated = version === undefined ? undefined : majorOf(engine, version)
  if (named !== undefined && stated !== undefined && named !== stated) {
    throw fieldError('image', image, `it contradicts version ${version}`)
  }
  return { major: supported(engine, 'image', image, named ?? stated), image }
}

/** A version is a number, or text that begins with one; the number 11.1 of JSON may have been 11.10. */
function versionOf(engine: Engine, value: unknown): string {
  const text = typeof value === 'number' ? String(value) : readText('version', value)
  if (majorOf(engine, text) === undefined || !/^[\w][\w.-]{0,100}$/.test(text)) {
    throw fieldError('version', value, `it must be a version such as ${engine.defaultMajor}`)
  }
  return text
}

function supported(engine: Engine, key: string, value: string, major: string | undefined): string {
  if (major === undefined) {
    throw fieldError(key, value, `the ${engine.title} version cannot be told from it; set version too`)
  }
  if (!layoutOf(engine, major)) {
    throw fieldError(key, value, `supported versions of ${engine.title} are ${supportedVersions(engine)}`)
  }
  return major
}

const defaultImage = (engine: Engine): string => layoutOf(engine, engine.defaultMajor)?.image ?? engine.repository

/** User ids, paths and probes follow the official images. */
function imageWarnings(engine: Engine, values: Values): readonly string[] {
  const image = values.get('image')
  const repository = typeof image === 'string' ? parseImage(image)?.repository : undefined
  if (repository === undefined || repository.split('/').at(-1) === engine.repository.split('/').at(-1)) return []
  return [`Image ${shownValue(image)} must have the user, the paths and the commands of ${engine.repository}.`]
}
