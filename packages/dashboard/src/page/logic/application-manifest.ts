import type { FieldProblem } from '../data/api.ts'

/** An Application as the API takes it. Fields that the page does not know are kept. */
export interface ApplicationManifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string; readonly namespace?: string }
  readonly spec: Readonly<Record<string, unknown>>
}

/** The fields of the form: texts, as the user typed them. */
export interface ApplicationFields {
  readonly namespace: string
  readonly name: string
  readonly image: string
  readonly replicas: string
  readonly strategy: string
  readonly run: string
  /** `80`, `8080:3000`, one per line or separated by commas. */
  readonly ports: string
  /** `KEY=value`, one per line. */
  readonly config: string
  readonly cpu: string
  readonly memory: string
}

export const EMPTY_FIELDS: ApplicationFields = {
  namespace: 'default',
  name: '',
  image: '',
  replicas: '1',
  strategy: 'RollingUpdate',
  run: 'Always',
  ports: '',
  config: '',
  cpu: '',
  memory: '',
}

interface Port {
  readonly port: unknown
  readonly targetPort?: unknown
}

export function fieldsOf({ metadata, spec }: ApplicationManifest): ApplicationFields {
  const ports = knownPorts(spec)
  const config = (spec['config'] ?? {}) as Readonly<Record<string, unknown>>
  const requests = requestsOf(spec)
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    image: textOf(spec['image']),
    replicas: textOf(spec['replicas']),
    strategy: textOf(spec['strategy']) || 'RollingUpdate',
    run: textOf(spec['run']) || 'Always',
    ports: ports.map(portText).join(', '),
    config: Object.entries(config)
      .map(([key, value]) => `${key}=${quotedIfNeeded(textOf(value))}`)
      .join('\n'),
    cpu: textOf(requests['cpu']),
    memory: textOf(requests['memory']),
  }
}

/** Puts the fields into a manifest. A field that did not change leaves what is there, with all that the form cannot show. */
export function manifestOf(fields: ApplicationFields, base?: ApplicationManifest): ApplicationManifest {
  const before: Partial<ApplicationFields> = base ? fieldsOf(base) : {}
  const spec: Record<string, unknown> = { ...base?.spec }
  const put = (name: keyof ApplicationFields, path: string, value: () => unknown): void => {
    if (fields[name] === before[name]) return
    const next = value()
    if (next === undefined) delete spec[path]
    else spec[path] = next
  }
  put('image', 'image', () => fields.image.trim())
  put('replicas', 'replicas', () => numberOrText(fields.replicas))
  put('strategy', 'strategy', () => fields.strategy)
  put('run', 'run', () => (fields.run === 'Always' && base?.spec['run'] === undefined ? undefined : fields.run))
  put('ports', 'ports', () => portsOf(fields.ports, knownPorts(base?.spec)))
  put('config', 'config', () => configOf(fields.config))
  if (fields.cpu !== (before.cpu ?? '') || fields.memory !== (before.memory ?? '')) {
    const { cpu: _cpu, memory: _memory, ...others } = requestsOf(spec)
    const requests = {
      ...others,
      ...(fields.cpu.trim() && { cpu: fields.cpu.trim() }),
      ...(fields.memory.trim() && { memory: fields.memory.trim() }),
    }
    spec['resources'] = { ...(spec['resources'] as object | undefined), requests }
  }
  return {
    apiVersion: base?.apiVersion ?? 'cloudnative.elide.dev/v1',
    kind: base?.kind ?? 'Application',
    metadata: { ...base?.metadata, namespace: fields.namespace.trim(), name: fields.name.trim() },
    spec,
  }
}

/** The manifest with another number of replicas, as the user typed it. */
export function scaled(manifest: ApplicationManifest, replicas: string): ApplicationManifest {
  return { ...manifest, spec: { ...manifest.spec, replicas: numberOrText(replicas) } }
}

const FIELD_PATHS: readonly (readonly [path: string, field: keyof ApplicationFields])[] = [
  ['metadata.name', 'name'],
  ['metadata.namespace', 'namespace'],
  ['namespace', 'namespace'],
  ['name', 'name'],
  ['spec.image', 'image'],
  ['spec.replicas', 'replicas'],
  ['spec.strategy', 'strategy'],
  ['spec.run', 'run'],
  ['spec.ports', 'ports'],
  ['spec.config', 'config'],
  ['spec.resources.requests.cpu', 'cpu'],
  ['spec.resources.requests.memory', 'memory'],
]

/** Sorts the problems that the API found to the fields of the form; the others belong to the whole. */
export function problemsByField(problems: readonly FieldProblem[]): {
  readonly fields: Partial<Readonly<Record<keyof ApplicationFields, string>>>
  readonly others: readonly FieldProblem[]
} {
  const fields: Partial<Record<keyof ApplicationFields, string>> = {}
  const others: FieldProblem[] = []
  for (const problem of problems) {
    const path = problem.field.replace(/^\$?\.?/, '')
    const match = FIELD_PATHS.find(
      ([start]) => path === start || path.startsWith(`${start}.`) || path.startsWith(`${start}[`),
    )
    if (!match) {
      others.push(problem)
      continue
    }
    const [start, field] = match
    // A field that holds several values names the wrong one.
    const text = path === start ? problem.message : `${path.slice(start.length).replace(/^\./, '')}: ${problem.message}`
    fields[field] = fields[field] === undefined ? text : `${fields[field]}; ${text}`
  }
  return { fields, others }
}

function requestsOf(spec: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const resources = (spec['resources'] ?? {}) as { readonly requests?: Readonly<Record<string, unknown>> }
  return resources.requests ?? {}
}

function knownPorts(spec: Readonly<Record<string, unknown>> | undefined): readonly Port[] {
  return Array.isArray(spec?.['ports']) ? (spec['ports'] as readonly Port[]) : []
}

/** A port that exists keeps what the form does not show, such as its name. */
function portsOf(text: string, known: readonly Port[]): readonly Port[] | undefined {
  const ports = text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map((part) => {
      const [first = '', target] = part.split(':')
      const port = numberOrText(first)
      const { targetPort: _targetPort, ...others } = known.find((each) => each.port === port) ?? { port }
      return { ...others, ...(target !== undefined && { targetPort: numberOrText(target) }) }
    })
  return ports.length > 0 ? ports : undefined
}

function portText({ port, targetPort }: Port): string {
  return targetPort === undefined || targetPort === port ? textOf(port) : `${textOf(port)}:${textOf(targetPort)}`
}

function configOf(text: string): Readonly<Record<string, string>> | undefined {
  const entries = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const equals = line.indexOf('=')
      return equals < 0 ? [line.trim(), ''] : [line.slice(0, equals).trim(), unquoted(line.slice(equals + 1))]
    })
  return entries.length > 0 ? (Object.fromEntries(entries) as Record<string, string>) : undefined
}

/** A value with line breaks takes one line, as JSON. */
function quotedIfNeeded(value: string): string {
  return value.includes('\n') || value.startsWith('"') ? JSON.stringify(value) : value
}

function unquoted(text: string): string {
  if (!text.startsWith('"')) return text
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : text
  } catch {
    return text
  }
}

/** A text that is not a number is sent as it is: the API says what is wrong with it. */
function numberOrText(text: string): unknown {
  const trimmed = text.trim()
  return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
