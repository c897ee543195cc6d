import { httpConfig } from '@tenure/http'
import { type ConfiguredOperator, configure, type Operator } from '@tenure/runtime'
import {
  type Configuration,
  connectionConfig,
  defaultValues,
  defineConfiguration,
  definitionConfig,
  leaderElectionConfig,
  logConfig,
  type Option,
  portConfig,
  probeConfig,
  type Table,
  type Values,
  webhookConfig,
} from '@tenure/runtime/configuration'

type OptionRow = Configuration<Table>['rows'][number]

/** Settings of the process: all its operators have the same. */
const PROCESS: Table = {
  ...httpConfig,
  healthProbeBindAddress: probeConfig.healthProbeBindAddress,
  metricsBindAddress: {
    ...probeConfig.metricsBindAddress,
    default: '0',
    meaning: 'Address of /metrics without authentication, besides that of the HTTP API; 0 serves none.',
  },
  ...leaderElectionConfig,
  ...definitionConfig,
  webhooks: webhookConfig.webhooks,
  ...connectionConfig,
  ...logConfig,
}

/** Settings of servers that operators have when they run alone. Here the process has them. */
const ALONE: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(Object.keys(portConfig).map((key) => [key, undefined])),
  enableMetrics: false,
  enableHealthCheck: false,
  dashboardAddr: '0',
}

/** A setting of one operator, under its name in the table of all. */
interface OwnSetting {
  readonly name: string
  readonly operator: Operator
  readonly key: string
  readonly option: Option
}

/**
 * The settings of several operators that run on a cluster in one process. Names that two operators use for different
 * things get the operator's name in front: `--claims-namespace`.
 */
export function combinedTable(operators: readonly Operator[]): Table {
  const own = ownSettings(operators).map(({ name, option }) => [name, option] as const)
  return { ...PROCESS, ...Object.fromEntries(own) }
}

/** The operators of a process with their settings among those of all. */
export function combinedOperators(
  operators: readonly Operator[],
  all: readonly Operator[],
  settings: Values<Table>,
): readonly ConfiguredOperator[] {
  return operators.map((operator) => {
    const values: Record<string, unknown> = { ...defaultValues(operator.config) }
    for (const [key, value] of Object.entries(ALONE)) if (key in operator.config) values[key] = value ?? values[key]
    for (const key of Object.keys(PROCESS)) if (key in operator.config) values[key] = settings[key]
    for (const { name, key } of ownSettings(all).filter((own) => own.operator === operator))
      values[key] = settings[name]
    return configure(operator, values as Values<Table>)
  })
}

function ownSettings(operators: readonly Operator[]): readonly OwnSetting[] {
  const settings = operators.flatMap((operator) =>
    defineConfiguration({ program: operator.name, summary: operator.summary, options: operator.config })
      .rows.filter(({ key }) => !(key in PROCESS) && !(key in ALONE))
      .map((row) => ({ operator, row })),
  )
  const isShared = (is: (row: OptionRow) => boolean): boolean => settings.filter(({ row }) => is(row)).length > 1
  let webhookServers = 0
  return settings.map(({ operator, row: { key, option: alone, flag, environment, file } }) => {
    // Each operator with webhooks listens on a port of its own.
    const option = key === 'webhookPort' ? withPort(alone, webhookServers++) : alone
    if (!isShared((row) => row.key === key)) return { name: key, operator, key, option }
    const hasSharedVariable = environment !== undefined && isShared((row) => row.environment === environment)
    const prefix = operator.name.replaceAll('-', '_').toUpperCase()
    const names = {
      flag: flag === undefined ? false : `${operator.name}-${flag}`,
      environment: hasSharedVariable ? `${prefix}_${environment}` : (environment ?? false),
      file: file === undefined ? false : `${operator.name}.${file}`,
    }
    // Only its names differ from those of an option of this type.
    return { name: `${operator.name}.${key}`, operator, key, option: { ...option, ...names } as Option }
  })
}

function withPort(option: Option, offset: number): Option {
  return option.type === 'integer' ? { ...option, default: (option.default ?? 0) + offset } : option
}
