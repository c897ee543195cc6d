import { TenureError } from '@tenure/kube'
import { dnsLabel } from '@tenure/kube/model'
import { parseDuration } from '@tenure/runtime'
import { z } from 'zod'
import { DEFAULT_POOL } from './api/names.ts'
import type { ClaimsSettings } from './config.ts'
import type { PoolSizeSettings } from './controllers/pool/size.ts'

const DEFAULT_COOLDOWN_MS = 300_000
const MAX_MEMBERS = 10_000

/** The files and the ConfigMap that a pool is rendered from. */
export interface PoolInputs {
  readonly templatePath: string
  readonly valuesPath: string
  /** Undefined: the values come from the file. */
  readonly valuesConfigMap: { readonly name: string; readonly key: string } | undefined
  /** Undefined: callers may send any values. */
  readonly valuesSchemaPath: string | undefined
}

/** A pool as the settings describe it. */
export interface PoolSettings extends PoolSizeSettings {
  readonly name: string
  readonly inputs: PoolInputs
  /** Milliseconds. */
  readonly defaultTtl: number
  /** Milliseconds; at least `defaultTtl`. */
  readonly maxTtl: number
}

const count = z.int().min(0).max(MAX_MEMBERS)
const path = z.string().min(1)
/** The value is in milliseconds. */
const duration = z.union([z.string(), z.literal(0)]).transform((text, context) => {
  try {
    return parseDuration(String(text), { days: true })
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message.replace(/\.$/, '') })
    return z.NEVER
  }
})
const ttl = duration.refine((milliseconds) => milliseconds >= 1_000, 'it must be at least 1s')

const poolSchema = z.strictObject({
  templatePath: path.optional(),
  valuesPath: path.optional(),
  valuesConfigMapName: path.optional(),
  valuesConfigMapKey: path.optional(),
  valuesSchemaPath: path.optional(),
  count: count.optional(),
  min: count.optional(),
  max: count.optional(),
  spare: count.optional(),
  cooldown: duration.refine((milliseconds) => milliseconds >= 0, 'it must not be negative').optional(),
  defaultTTL: ttl.optional(),
  maxTTL: ttl.optional(),
})

type PoolSection = z.output<typeof poolSchema>

/** The pools of the settings; "default" is the first. Throws a TenureError that names what is wrong. */
export function poolSettings(settings: ClaimsSettings): readonly PoolSettings[] {
  const sections = new Map(
    Object.entries(settings.pools).map(([name, section]) => [name, readSection(name, section)] as const),
  )
  const base = poolOf(DEFAULT_POOL, sections.get(DEFAULT_POOL) ?? {}, defaultsOf(settings))
  // Other pools take over everything but the size.
  const inherited = { ...base, count: 0, min: 0, max: MAX_MEMBERS, spare: undefined, cooldown: DEFAULT_COOLDOWN_MS }
  const named = [...sections]
    .filter(([name]) => name !== DEFAULT_POOL)
    .map(([name, section]) => poolOf(name, section, inherited))
  return [base, ...named]
}

function defaultsOf(settings: ClaimsSettings): Omit<PoolSettings, 'name'> {
  const { valuesConfigMapName: name, valuesConfigMapKey: key } = settings
  return {
    inputs: {
      templatePath: settings.templatePath,
      valuesPath: settings.valuesPath,
      valuesConfigMap: name === undefined ? undefined : { name, key },
      valuesSchemaPath: settings.valuesSchemaPath,
    },
    defaultTtl: settings.defaultTtl,
    maxTtl: settings.maxTtl,
    count: settings.preProvisionClaimsCount,
    min: 0,
    max: MAX_MEMBERS,
    spare: undefined,
    cooldown: DEFAULT_COOLDOWN_MS,
  }
}

function readSection(name: string, section: unknown): PoolSection {
  if (dnsLabel(name).length > 0)
    throw invalid(`pools.${name}`, 'a pool is named as a DNS label: lower-case letters, digits and -')
  const read = poolSchema.safeParse(section)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const where = ['pools', name, ...(issue?.path ?? [])].map(String).join('.')
  throw invalid(where, issue?.message ?? 'it is not a mapping')
}

function poolOf(name: string, section: PoolSection, base: Omit<PoolSettings, 'name'>): PoolSettings {
  const { inputs } = base
  const { min = base.min, max = base.max } = section
  if (min > max) throw invalid(`pools.${name}.min`, `${min} is more than max, ${max}`)
  // A maximum of its own limits the TTL that a pool takes over; it is raised to a default of its own.
  const defaultTtl = section.defaultTTL ?? Math.min(base.defaultTtl, section.maxTTL ?? Infinity)
  return {
    name,
    inputs: {
      templatePath: section.templatePath ?? inputs.templatePath,
      valuesPath: section.valuesPath ?? inputs.valuesPath,
      valuesConfigMap: configMapOf(section, inputs),
      valuesSchemaPath: section.valuesSchemaPath ?? inputs.valuesSchemaPath,
    },
    defaultTtl,
    maxTtl: Math.max(section.maxTTL ?? base.maxTtl, defaultTtl),
    count: section.count ?? base.count,
    min,
    max,
    spare: section.spare ?? base.spare,
    cooldown: section.cooldown ?? base.cooldown,
  }
}

/** A pool with a values file of its own does not take over the ConfigMap. */
function configMapOf(section: PoolSection, { valuesConfigMap: base }: PoolInputs): PoolInputs['valuesConfigMap'] {
  const { valuesConfigMapName: name, valuesConfigMapKey: key, valuesPath } = section
  if (name !== undefined) return { name, key: key ?? base?.key ?? 'values.yaml' }
  if (valuesPath !== undefined || !base) return undefined
  return { ...base, ...(key !== undefined && { key }) }
}

function invalid(where: string, problem: string): TenureError {
  return new TenureError('TENURE_CONFIGURATION_INVALID', `${where} in the settings file: ${problem}.`, {
    fate: 'terminal',
  })
}
